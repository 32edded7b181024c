#!/bin/sh
# What galvo says of the recording goes to stderr.
"$GALVO" record -o run -- true
