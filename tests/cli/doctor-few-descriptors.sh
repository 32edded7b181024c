ulimit -n 40
"$GALVO" doctor -o .
