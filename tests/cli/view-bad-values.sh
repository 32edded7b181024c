#!/bin/sh
# What an option takes is said when it gets something else.
for value in "--max-size=0" "--max-size=32MB" "--max-size=" "--detail=5" "--detail=5-4" "--detail=-5" "--detail=1-x" \
	"--precision=f16"; do
	if "$GALVO" view "$value" run; then echo 0; else echo $?; fi
done 2>&1 | sed "s/; try .*//"
