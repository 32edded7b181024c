#!/bin/sh
# A configuration with an error starts nothing; nor does one whose process 0 has no command.
echo 'system { hertz: 1 }' >c.pbtxt
"$GALVO" record -c c.pbtxt -- touch started || test $? = 2
test ! -e started
echo 'system { enabled: true processes { pid: 0 } }' >c.pbtxt
"$GALVO" record -c c.pbtxt
