#!/bin/sh
# What the GPU that is here can count, one line each; the same as JSON.
echo 'gpu GH100 name=H200' >box.txt
"$DOUBLES/scene" make box.txt box.scene
export GALVO_SCENE="$PWD/box.scene" LD_LIBRARY_PATH="$DOUBLES/lib"
"$GALVO" metrics --gpu >list
wc -l <list
awk -F '\t' '{ print $2, NF }' list | sort | uniq -c | sed 's/^ *//'
grep '^dram__bytes_read' list
"$GALVO" metrics --gpu --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["galvo_counters"], d["chip"], len(d["metrics"]), d["metrics"][-1]["suffix_class"])'
"$DOUBLES/scene" show box.scene | grep -i violation || echo no violation
