#!/bin/sh
# Every column: seven fields, tab separated where nobody looks; the same as JSON.
"$GALVO" metrics | awk -F "\t" '{ print NF }' | sort -u
"$GALVO" metrics | grep -c "^mem__used_bytes"
"$GALVO" metrics --json | python3 -c "import json, sys; json.load(sys.stdin)"
