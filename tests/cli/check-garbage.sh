#!/bin/sh
# A stream of garbage: told, and where.
"$GALVO" record -q -o run -- true
printf "\\377garbage" >run/system_metrics.pb
"$GALVO" check run
