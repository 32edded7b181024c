#!/bin/sh
# The exit status is the command's.
"$GALVO" record -q -o run -- sh -c "exit 7"
