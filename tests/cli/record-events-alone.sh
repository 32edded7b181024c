#!/bin/sh
# A configuration with events alone, attached to a process: the recording ends when the process does.
printf 'events { enabled: true }\n' >events.pbtxt
sleep 1 &
"$GALVO" record -q -c events.pbtxt -o run -p $! && "$GALVO" check -q run && ls run
