#!/bin/sh
# Streams without their metadata are a recording, too.
mkdir run && echo precious >run/system_metrics.pb
"$GALVO" record -q -o run -- true || echo "$?"
cat run/system_metrics.pb
