#!/bin/sh
# A run that is not there, and one in which there is nothing: no file is left, an old one stays.
echo old >x.svg
"$GALVO" plot nowhere -o x.svg || echo "$?"
mkdir empty
"$GALVO" plot empty -o x.svg || echo "$?"
cat x.svg
ls
