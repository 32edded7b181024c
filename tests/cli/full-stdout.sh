#!/bin/sh
# An answer that cannot be written is a failure.
"$GALVO" help >/dev/full
