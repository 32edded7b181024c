#!/bin/sh
# The version, one line.
"$GALVO" version
