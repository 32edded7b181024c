#!/bin/sh
# A sound configuration: what of it is not here is noted.
echo 'output_dir: "run" system { enabled: true } gpu { enabled: true }' >c.pbtxt
"$GALVO" config check c.pbtxt
