#!/bin/sh
# A chip that is not here: which there are, patterns, suffixes, full names.
echo 'scene seed=1' >box.txt
"$DOUBLES/scene" make box.txt box.scene
export GALVO_SCENE="$PWD/box.scene" GALVO_CUPTI_LIB="$DOUBLES/lib/libcupti.so.13"
"$GALVO" metrics --chip list | grep -c '^G'
"$GALVO" metrics --chip list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0])'
"$GALVO" metrics --chip GH100 DRAM__BYTES
"$GALVO" metrics --chip GH100 'dram__*write_throughput'
"$GALVO" metrics --chip GH100 --suffixes dram__throughput
"$GALVO" metrics --chip GH100 --suffixes | wc -l
"$GALVO" metrics --chip GH100 --suffixes --json dram__bytes_write | python3 -c '
import json, sys
m = json.load(sys.stdin)["metrics"][0]
print(m["name"], m["unit"], m["vendor_unit"], len(m["suffixes"]), m["suffixes"][0])'
