#!/bin/sh
# A sound configuration: what of it is not here is noted.
echo 'output_dir: "run" system { enabled: true processes { pid: 2147483647 } }' >c.pbtxt
"$GALVO" config check c.pbtxt
