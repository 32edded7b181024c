#!/bin/sh
# No line of any help is wider than a screen.
for command in record report check region mark metrics config completions help version; do
	LC_ALL=C.UTF-8 "$GALVO" help $command | LC_ALL=C.UTF-8 awk -v c=$command 'length > 80 {print c ": " $0}'
done
