#!/bin/sh
# The memory that galvo says it took is its own, however large the program was that started it.
export GALVO
awk 'BEGIN {
	s = "x"
	for (i = 0; i < 27; i++)
		s = s s
	exit system("exec \"$GALVO\" record -q -a --for 100ms -o run")
}'
"$GALVO" report --json run | awk '
	/"max_rss_bytes": [0-9]/ { gsub(/[^0-9]/, ""); bytes = $0 + 0 }
	END { print (bytes > 100000 && bytes < 100000000 ? "its own" : "not its own: " bytes) }'
