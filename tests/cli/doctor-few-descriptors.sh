ulimit -n 30
"$GALVO" doctor -o .
