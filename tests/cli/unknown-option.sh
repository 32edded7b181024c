#!/bin/sh
# An option that is not there.
"$GALVO" record --frobnicate -- true
