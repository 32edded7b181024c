#!/bin/sh
# A run that is not there.
"$GALVO" report no-such-run
