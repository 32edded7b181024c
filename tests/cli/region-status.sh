#!/bin/sh
# The status of the command comes through both.
"$GALVO" record -q -o run -- "$GALVO" region work -- sh -c 'exit 7'
