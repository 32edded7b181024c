#!/bin/sh
# A command that a signal ended: 128 and the signal.
"$GALVO" record -q -o run -- sh -c 'kill -TERM $$'
