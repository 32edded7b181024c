#!/bin/sh
# A command that a signal ended, and its region ends with it.
"$GALVO" record -q -o run -- "$GALVO" region work -- sh -c 'kill -9 $$' || echo $?
"$GALVO" report --json run | sed -n '/"regions"/,/unfinished/p'
