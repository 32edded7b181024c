#!/bin/sh
# Recording needs a command, a process or --all.
"$GALVO" record -o run
