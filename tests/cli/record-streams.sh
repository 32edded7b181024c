#!/bin/sh
# Input, output and errors are the command's own; galvo adds nothing to its stdout.
echo in | "$GALVO" record -q -o run -- sh -c 'cat && echo out && echo err >&2'
