#!/bin/sh
# Neither begin nor end, and no command.
"$GALVO" region work
