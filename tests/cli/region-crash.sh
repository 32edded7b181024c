#!/bin/sh
# The recorder is killed: what was flushed stays, what was open is open, and who speaks on is told.
# shellcheck disable=SC2016 # the script of the workload
{ XDG_RUNTIME_DIR=$PWD "$GALVO" record -q --flush 20ms -o run -- sh -c '
	"$GALVO" region ended -- true
	"$GALVO" region begin open
	until grep -q open run/events.pb; do :; done
	kill -9 $PPID
	until ! "$GALVO" mark late 2>said; do :; done
	"$GALVO" region work -- echo ran >ran 2>&1
	echo >ended
'; } 2>killed || echo $?
until [ -e ended ]; do :; done
sed 's/ at .*socket/ at SOCKET/' said ran
"$GALVO" report --json run | sed -n '/"regions"/,/"not_recorded"/s/^      "\(name\|count\|unfinished\)"/\1/p'
