#!/bin/sh
# PNG and PDF where there is cairo; where its library is no library, one line that says so, and no file.
# What fontconfig, below cairo, keeps for the process is no leak of ours.
echo "leak:libfontconfig" >kept
export LSAN_OPTIONS="suppressions=$PWD/kept:print_suppressions=0"
"$GALVO" record -q -o run -- true
for name in png pdf; do
	if "$GALVO" plot run -o "1.$name" 2>error; then
		"$GALVO" plot run -o "2.$name"
		cmp "1.$name" "2.$name"
		head -c 4 "1.$name" | grep -qi "$name" || echo "this is no $name"
	else # it is not here, then
		grep -q "cairo" error || cat error
	fi
done
rm -f 1.* 2.* error
mkdir lib
echo "no library" >lib/libcairo.so.2
export LD_LIBRARY_PATH="$PWD/lib"
"$GALVO" plot run -o run.png 2>error || echo "$?"
grep -vx 'galvo: PNG and PDF are drawn by cairo.*; SVG needs nothing' error || wc -l <error
rm error
"$GALVO" plot run -o run.svg
rm kept
ls
