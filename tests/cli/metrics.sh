#!/bin/sh
# Every column, tab separated where nobody looks.
"$GALVO" metrics | head -n 1 | tr "\t" " "
"$GALVO" metrics | grep -c "^mem__used_bytes"
"$GALVO" metrics --json | python3 -c "import json, sys; json.load(sys.stdin)"
