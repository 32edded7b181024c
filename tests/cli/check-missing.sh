#!/bin/sh
# A run that is not there.
"$GALVO" check no-such-run
