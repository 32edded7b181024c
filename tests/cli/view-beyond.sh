#!/bin/sh
# Details behind the end of a run are a slip of the pen; options may stand behind runs.
"$GALVO" record -q -o run -- sleep 0.1
"$GALVO" view run --no-open -o page.html --detail 100-200 2>&1 | sed 's/ which is .* long/ which is … long/'
test -e page.html || echo none
"$GALVO" view run --no-open -o page.html --detail 0-200
"$GALVO" view run -o -x
"$GALVO" view --no-open -o page.html -- run -x 2>&1 | sed 's/:.*//'
