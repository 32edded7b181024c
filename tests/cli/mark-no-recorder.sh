#!/bin/sh
# Nobody records: an error, in one line.
unset GALVO_SOCKET
"$GALVO" mark here
