#!/bin/sh
# A file that is no program, as a shell has it: 126.
echo text >file
chmod a-x file
"$GALVO" record -q -o run -- ./file
