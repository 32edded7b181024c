#!/bin/sh
# Line, column and field of what is wrong; and values that make no sense.
printf 'output_dir: "run"\nsystem {\n  enabled: true\n  sampling_frequency_hz: fast\n}\n' >c.pbtxt
"$GALVO" config check c.pbtxt || test $? = 1
echo 'system { enabled: true sampling_frequency_hz: 20000 }' >c.pbtxt
"$GALVO" config check c.pbtxt
