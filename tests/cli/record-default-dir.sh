#!/bin/sh
# Many in a second: each has a directory of its own.
"$GALVO" record -q -- true
"$GALVO" record -q -- true
"$GALVO" record -q -- true
set -- galvo-*
echo $#
