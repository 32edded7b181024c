#!/bin/sh
# A directory that is no run.
mkdir dir
"$GALVO" report dir
