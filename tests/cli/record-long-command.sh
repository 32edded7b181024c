#!/bin/sh
# A command line larger than any buffer: its start is there, with a mark, and all of it in the metadata.
# shellcheck disable=SC2046 # a list of words
"$GALVO" record -q -o run -- sh -c 'sleep 0.3' $(head -c 1300000 /dev/zero | tr '\0' x | fold -w 1000)
"$GALVO" check -q run
"$GALVO" report --json run >page
grep -c '^      "x*"' page
sed -n 's/^      "command": "\(sh -c .*\)",$/\1/p' page | sed 's/xx*/x/'
