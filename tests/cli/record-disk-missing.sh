#!/bin/sh
# A disk that is not there.
"$GALVO" record -o run --disk nope -- true
