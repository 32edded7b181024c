#!/bin/sh
# A run is not overwritten without being asked to.
"$GALVO" record -q -o run -- true
"$GALVO" record -q -f -o run -- true
"$GALVO" record -q -o run -- touch started || status=$?
test ! -e started
exit "$status"
