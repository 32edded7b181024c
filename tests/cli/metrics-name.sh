#!/bin/sh
# One column explained.
"$GALVO" metrics mem__used_bytes
"$GALVO" metrics --json mem__used_bytes | python3 -c "import json, sys; print(len(json.load(sys.stdin)))"
