#!/bin/sh
# A configuration says what is recorded, and process 0 of it is the command; later options override it.
cat >c.pbtxt <<'END'
output_dir: "run"
system {
  enabled: true output_file: "s.pb" processes { pid: 0 alias: "mine" } processes { pid: 2147483647 }
}
END
"$GALVO" record -c c.pbtxt -o other -- true 2>said
grep processes: said
ls other
"$GALVO" record -q --config c.pbtxt -- sh -c 'true; true'
ls run
"$GALVO" report --json run | grep -o '"alias": "[a-z]*"'
"$GALVO" record -q -c c.pbtxt -f --all --for 20ms
"$GALVO" report --json run | grep -c '"alias"' || true
