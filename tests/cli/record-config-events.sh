#!/bin/sh
# Events alone: nothing is sampled, and what the command says of itself is recorded.
echo 'output_dir: "run" events { enabled: true output_file: "said.pb" }' >c.pbtxt
"$GALVO" record -q -c c.pbtxt -- "$GALVO" mark here
ls run
"$GALVO" check -q run
"$GALVO" report --json run | grep -o '"name": "here"'
