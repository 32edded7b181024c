#!/bin/sh
# Every command explains its options.
"$GALVO" record --help
