#!/bin/sh
# A report in text and in JSON.
"$GALVO" record -q -o run -- sh -c "exit 7" || test $? = 7
"$GALVO" report run | grep -c "exit status 7"
"$GALVO" report --json run | python3 -c "import json, sys; print(type(json.load(sys.stdin)).__name__)"
