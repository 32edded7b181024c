#!/bin/sh
# Is a set counted in one pass? The exit status tells, and so does JSON.
echo 'scene seed=1' >box.txt
"$DOUBLES/scene" make box.txt box.scene
export GALVO_SCENE="$PWD/box.scene" GALVO_CUPTI_LIB="$DOUBLES/lib/libcupti.so.13"
try() {
	"$GALVO" metrics "$@" && status=0 || status=$?
	echo "$status"
}
try --chip GB100 --check 'lts__t_bytes.sum , default '
try --chip GH100 --check sm__warps_active.avg,sm__inst_executed.sum,sm__pipe_tensor_cycles_active.avg
try --chip GH100 --check sm__cycles_active
try --chip GH100 --check ''
"$GALVO" metrics --chip GB100 --check default --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["chip"], d["is_one_pass"], d["error"], len(d["metrics"]), d["dropped"][0], d["sample_bytes"])'
"$GALVO" metrics --chip GH100 --check sm__cycles_active --json >wrong.json || echo $?
python3 -c '
import json
d = json.load(open("wrong.json"))
print(d["is_one_pass"], d["error"], d["metrics"], d["sample_bytes"])'
