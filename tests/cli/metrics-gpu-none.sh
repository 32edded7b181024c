#!/bin/sh
# Without a GPU it says so, and how to go on.
echo 'scene seed=1' >box.txt
"$DOUBLES/scene" make box.txt box.scene
export GALVO_SCENE="$PWD/box.scene" LD_LIBRARY_PATH="$DOUBLES/lib"
"$GALVO" metrics --gpu
