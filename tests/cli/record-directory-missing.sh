#!/bin/sh
# The run directory cannot be made: nothing is started.
touch file
"$GALVO" record -o file/run -- touch started || status=$?
test ! -e started
exit "$status"
