#!/bin/sh
# A command that is not there, as a shell has it: 127.
"$GALVO" record -q -o run -- ./no-such-command
