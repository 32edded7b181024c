#!/bin/sh
# A time in a unit that there is not.
"$GALVO" record -o run --for 10x -- true
