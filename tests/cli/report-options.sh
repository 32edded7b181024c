#!/bin/sh
# Options may stand behind the run; behind -- all is a run.
"$GALVO" record -q -o run -- true
"$GALVO" report run --json | head -c 1
"$GALVO" report run --by nothing || echo "$?"
"$GALVO" report -- run --json || echo "$?"
"$GALVO" check run -q && echo sound
mv run -- --json
"$GALVO" report --by comm -- --json | head -n 1 | cut -c 1-7
