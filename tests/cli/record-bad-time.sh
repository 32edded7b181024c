#!/bin/sh
# A time without its unit.
"$GALVO" record -o run --for 10 -- true
