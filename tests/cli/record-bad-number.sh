#!/bin/sh
# A frequency that is no number.
"$GALVO" record -o run --hz banana -- true
