#!/bin/sh
# As a shell has it.
"$GALVO" region work -- no-such-command
