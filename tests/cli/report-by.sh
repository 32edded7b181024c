#!/bin/sh
# Processes as a tree or by their names; another word is told which there are.
"$GALVO" record -q -o run -- sh -c "sleep 0.1; :"
"$GALVO" report --by comm run | grep -o "^processes by name *count"
"$GALVO" report --by pid run | grep -o "^processes *pid"
"$GALVO" report --json --by comm run | python3 -c "import json, sys; print(json.load(sys.stdin)['groups'][0]['count'])"
"$GALVO" report --by user run 2>&1 | sed "s/; try .*//"
