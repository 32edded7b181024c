#!/bin/sh
# What galvo says of the recording goes to stderr.
# No budget: where galvo is slow, as with sanitizers, that would be worth a line of its own.
"$GALVO" record --budget 100 -o run -- true
