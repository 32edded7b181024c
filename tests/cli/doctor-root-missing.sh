mkdir empty
"$GALVO" doctor --root empty
