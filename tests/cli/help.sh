#!/bin/sh
# Help is an answer: on stdout.
"$GALVO" help
