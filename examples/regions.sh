#!/bin/sh
# A script that names its phases: galvo record -o run -- examples/regions.sh, then galvo report run.
set -eu
galvo=${GALVO:-galvo}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$galvo" region begin 'make data'
head -c 20000000 /dev/urandom >"$work/data"
"$galvo" region end 'make data'

# Around a command, the region is its life; the command runs even if nobody records.
"$galvo" region compress -- gzip -k "$work/data"
"$galvo" mark 'compressed'

# Regions may be nested, and overlap.
"$galvo" region begin check
"$galvo" region sum -- sha256sum "$work/data.gz" >"$work/sum" &
"$galvo" region test -- gzip -t "$work/data.gz"
wait
"$galvo" region end check
