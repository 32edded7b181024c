mkdir -p root/proc/pressure root/proc/self
for file in stat meminfo diskstats vmstat net/dev pressure/cpu pressure/memory pressure/io; do
	mkdir -p "root/proc/$(dirname $file)"
	echo x >root/proc/$file
done
for file in stat statm status io; do echo x >root/proc/self/$file; done
"$GALVO" doctor --root root | sed -n '/^machine/,/^container/p'
