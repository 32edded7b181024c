#!/bin/sh
# Pictures of a recording: of each format, whole, the same twice, as its umask and its links want it.
umask 027
"$GALVO" record -q -o run -- sleep 0.1
"$GALVO" plot run -o run.svg
"$GALVO" plot -o two.svg run
cmp run.svg two.svg
python3 -c 'import sys, xml.etree.ElementTree as x; print(x.parse(sys.argv[1]).getroot().tag)' run.svg
"$GALVO" plot run --format svg -o - | cmp - run.svg
stat -c '%a' run.svg
mkdir pictures
echo old >pictures/run.svg
chmod 600 pictures/run.svg
ln -s pictures/run.svg link.svg
"$GALVO" plot run -o link.svg --theme dark
stat -c '%F %a' link.svg pictures/run.svg
"$GALVO" plot run -o x.svg --panels 'cpu, memor?' && grep -c 'class="panel"' x.svg
"$GALVO" plot run -o x.svg --panels cpu,nosuch 2>&1 | sed 's/ cpu, .*/ …/'
"$GALVO" plot --list run | grep "^memory"
"$GALVO" plot run -o x.svg --range 1h- 2>&1 | sed 's/ 3600 s to .*/ …/'
"$GALVO" plot run -o nowhere/x.svg || echo "$?"
"$GALVO" plot run -o pictures || echo "$?"
"$GALVO" plot run -o pictures/ --format svg || echo "$?"
"$GALVO" plot run --format svg -o /dev/full || echo "$?"
"$GALVO" plot run --format svg -o - >/dev/full || echo "$?"
ls pictures
