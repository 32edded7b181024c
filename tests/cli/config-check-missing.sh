#!/bin/sh
# A file that is not there.
"$GALVO" config check none.pbtxt
