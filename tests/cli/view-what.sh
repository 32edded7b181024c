#!/bin/sh
# A page needs a run.
"$GALVO" view
