#!/bin/sh
# What galvo serve is asked makes no sense.
for words in '' 'a b' '--live a' '-o x a' '-p 1 a' '--port -1 a' '--port 65536 a' '--port 1.5 a' '--live -p 0'; do
	# shellcheck disable=SC2086
	"$GALVO" serve $words || echo "$?"
done
"$GALVO" serve --live -o ''
