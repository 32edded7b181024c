#!/bin/sh
# What is replaced stays until the new recording begins: here it never does.
"$GALVO" record -q -o run -- true
"$GALVO" record -f -o run -p 4194304 -q || echo "$?"
"$GALVO" check -q run && ls run
