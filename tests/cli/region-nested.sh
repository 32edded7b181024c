#!/bin/sh
# Regions in regions, of the same name too, a mark, and names of any bytes.
# shellcheck disable=SC2016 # the script of the workload
"$GALVO" record -q -o run -- sh -eu -c '
	"$GALVO" region begin outer
	"$GALVO" region begin inner
	"$GALVO" region "$(printf "a\377\033b")" -- true
	"$GALVO" region begin inner
	"$GALVO" mark here
	"$GALVO" region end inner
	"$GALVO" region end inner
	"$GALVO" region end outer
	"$GALVO" region end never
	"$GALVO" region begin left
	[ "$(stat -c %a "${GALVO_SOCKET%/*}")" = 700 ]
	echo "$GALVO_SOCKET" >socket
'
[ ! -e "$(dirname "$(cat socket)")" ]
"$GALVO" check -q run
"$GALVO" report --json run | sed -n '/"regions"/,/"not_recorded"/s/^      "\(name\|count\|unfinished\)"/\1/p'
"$GALVO" report run | sed -n '/^regions/,/^$/s/   .*//p; /were not open/p'
