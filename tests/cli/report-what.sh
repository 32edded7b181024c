#!/bin/sh
# A report needs a run.
"$GALVO" report
