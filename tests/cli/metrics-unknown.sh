#!/bin/sh
# A column that is not there: the nearest one is suggested.
"$GALVO" metrics mem_used
