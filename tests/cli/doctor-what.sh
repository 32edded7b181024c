"$GALVO" doctor now
