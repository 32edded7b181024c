#!/bin/sh
# A run that is not there.
"$GALVO" view no-such-run
