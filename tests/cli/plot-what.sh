#!/bin/sh
# What cannot be meant is told in one line each, before anything is opened.
for words in "" "run" "run -o" "run -o x" "run -o x.jpg" "run -o -" "run more -o x.png" \
	"run -o x.png --theme blue" "run -o x.png --range 5s" "run -o x.png --range 5s-3s" "run -o x.png --range -" \
	"run -o x.png --width 10" "run -o x.png --width 1.5e3" "run -o x.png --panel-height 0" "run -o x --format gif"; do
	# shellcheck disable=SC2086 # words of a command line
	"$GALVO" plot $words || echo "$?: $words"
done
ls
