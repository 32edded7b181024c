#!/bin/sh
# A command that is not there: the nearest one is suggested.
"$GALVO" recrod
