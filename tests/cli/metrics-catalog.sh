#!/bin/sh
# The catalog as text is one that a configuration can lay over it.
"$GALVO" metrics --catalog >catalog.pbtxt
grep -c '^descriptors {' catalog.pbtxt >count
test "$("$GALVO" metrics | wc -l)" -eq "$(cat count)"
echo 'metric_catalog_path: "catalog.pbtxt" system { enabled: true }' >c.pbtxt
"$GALVO" config check c.pbtxt
