#!/bin/sh
# A metric that the GPU does not have is told before the command starts; one that it has is counted.
echo "gpu GH100 name=H200" >scene.txt
"$DOUBLES/scene" make scene.txt scene
export GALVO_SCENE="$PWD/scene" LD_LIBRARY_PATH="$DOUBLES/lib"
"$GALVO" record -o run --gpu-counters=sm__cycles_activ.avg -- touch ran || echo "$?"
ls
"$GALVO" record -q -o run --gpu-counters=' sm__cycles_active.avg , sm__cycles_elapsed.avg' -- true
ls run
