#!/bin/sh
# One recorder a directory: the second one is told, --force or not.
mkfifo hold
"$GALVO" record -q -o run -- sh -c "exec cat hold" &
while ! "$GALVO" check -q run 2>/dev/null && [ ! -e run/session_metadata.pb ]; do :; done
"$GALVO" record -q -f -o run -- true || echo "$?"
: >hold
wait $! && "$GALVO" check -q run && echo sound
