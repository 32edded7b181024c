#!/bin/sh
# Nothing is written through a link, nor waits for a reader, --force or not.
echo precious >victim
mkdir run && ln -s ../victim run/system_metrics.pb
"$GALVO" record -q -f -o run -- true || echo "$?"
cat victim
rm run/system_metrics.pb && mkfifo run/events.pb
"$GALVO" record -q -f -o run -- true || echo "$?"
ls run
