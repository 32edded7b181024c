"$GALVO" doctor >page || exit
# What is well and what is not differs from machine to machine; that a line is 80 columns wide does not.
awk 'length($0) > 80 && !/[\/…]/ { print "too wide: " $0 }' page
cat page
