"$GALVO" doctor --json >json || exit
grep -c '^    {"id": "[a-z-]*", "group": "[a-z]*", "title": ".*", "verdict": ".*", "need": "[a-z]*", "found": ' json
grep '"id": "own-files"' json | sed 's/, "found.*//'
sed -n '1,3p; /^  ]/,$p' json
