#!/bin/sh
# Chips and metrics that are not there: what was meant.
echo 'scene seed=1' >box.txt
"$DOUBLES/scene" make box.txt box.scene
export GALVO_SCENE="$PWD/box.scene" GALVO_CUPTI_LIB="$DOUBLES/lib/libcupti.so.13"
try() {
	"$GALVO" metrics "$@" && status=0 || status=$?
	echo "$status"
}
try --chip h100
try --chip GV100
try --chip GV100 --check default
try --chip 'GH100
'
try --chip GH100 dram__read_bytes
try --chip GH100 '*nothing*'
GALVO_CUPTI_LIB=/nowhere/libcupti.so
try --chip GH100
try --gpu --chip GH100
try --suffixes
try --chip list --check default
try --chip ''
