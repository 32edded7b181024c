#!/bin/sh
# Counters that cannot be had are told in a line, and the command runs: here the driver finds no device.
printf 'gpu GH100\nfault result call=cuInit result=100\n' >scene.txt
"$DOUBLES/scene" make scene.txt scene
export GALVO_SCENE="$PWD/scene" LD_LIBRARY_PATH="$DOUBLES/lib"
"$GALVO" record -o run --budget 100 --gpu-counters -- sh -c 'exit 7' 2>said || echo "$?"
grep -vc slowed said
grep -o "no GPU counters: cuInit: CUDA_ERROR_NO_DEVICE" said
"$GALVO" check run
