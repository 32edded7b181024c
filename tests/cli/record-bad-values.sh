#!/bin/sh
# What an option takes is said when it gets something else.
for value in "--hz=20000" "--core-hz=0.0001" "--disk-hz=nan" "--budget=200" "--budget=0" "--flush=25h" \
	"--for=0" "--follow=some" "--pid=1,,2" "--disk=" "--output="; do
	if "$GALVO" record "$value" -- true; then echo 0; else echo $?; fi
done 2>&1 | sed "s/; try .*//"
[ ! -e run ]
"$GALVO" record --gpu-counters=bogus -- true 2>/dev/null || echo "bogus: $?"
