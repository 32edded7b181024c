#!/bin/sh
# A time that is none.
"$GALVO" record -o run --for soon -- true
