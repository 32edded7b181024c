#!/bin/sh
# Without arguments: how to use it, on stderr.
"$GALVO"
