#!/bin/sh
# A process that is not there: pids end below 4194304.
"$GALVO" record -q -o run -p 4194304 --for 1s
