#!/bin/sh
# A run directory, whole and sound.
"$GALVO" record -q -o run -- true
ls run
"$GALVO" check -q run
