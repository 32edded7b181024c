#!/bin/sh
# A stream cut short: told; the repaired copy is sound.
"$GALVO" record -q -o run -- true
size=$(wc -c <run/system_metrics.pb)
head -c $((size - 3)) run/system_metrics.pb >part
mv part run/system_metrics.pb
"$GALVO" check -q run && exit 9
"$GALVO" check -q --repair whole run || test $? = 1
"$GALVO" check -q whole
