#!/bin/sh
# Two GPUs whose doings are known, recorded and reported: figures, users, an idle one, what was lost.
sleep 20 &
user=$!
trap 'kill $user' EXIT
now=$(($(date +%s%N) / 1000))
cat >box.txt <<END
gpu GH100 name=H200
curve gpu_pct shape=constant a=80
curve memory_used shape=constant a=64424509440
curve power_mw shape=constant a=520000
curve power_average_mw shape=constant a=500000
curve power_limit_mw shape=constant a=700000
curve energy_mj shape=line a=5000000 b=500000
curve clock_reasons shape=constant a=4
curve sm_busy_permille shape=constant a=700
curve sm_mhz shape=constant a=1800
process pid=$user memory=53687091200
$(for i in $(seq 60); do echo "use pid=$user at=$((now + i * 50000)) sm=60"; done)
gpu GH100 name=H200
curve gpu_pct shape=constant a=0
curve sm_busy_permille shape=constant a=0
fault overflow value=20000000 device=1 skip=2 times=1
END
"$DOUBLES/scene" make box.txt box.scene
export GALVO_SCENE="$PWD/box.scene" LD_LIBRARY_PATH="$DOUBLES/lib"
"$GALVO" record -q -o run --gpu-counters --for 1s -p "$user"
"$GALVO" report run | sed -n '/^gpus/,/^[a-fh-z]/p' | sed -e '$d' -e '/: telemetry of/d'
"$GALVO" report --json run | python3 -c '
import json, sys
busy, idle = json.load(sys.stdin)["gpus"]
c, e, p = busy["counters"], busy["energy"], busy["processes"][0]
print(busy["state"], "%.1f" % busy["utilization_avg_pct"], busy["used"], idle["state"], idle["used"])
print("%.3f %.3f %.3f %.3f" % (c["sm_busy_avg_pct"], c["tensor_avg_pct"], c["warps_avg_per_sm"],
      c["clock_sm_avg_hz"] / 1e9), c["missing_s"], c["reason"])
print(abs(e["difference_pct"]) < 1, abs(e["counter_joules"] - 500 * e["counter_s"]) < 5, e["gaps_s"])
print(busy["covered_pct"] > 30, c["covered_pct"] > 30, busy["throttled"]["any_ratio"])
print(p["pid"] == int(sys.argv[1]), p["memory_peak_bytes"] >> 30, "%.1f" % p["utilization_avg_pct"],
      50 < p["share_pct"] < 80, abs(p["share_pct"] + busy["unattributed"]["share_pct"] - 100) < 1e-6)
c = idle["counters"]
print(c["sm_busy_avg_pct"], c["decoding"]["overflows"], c["missing_s"] > 0)
' "$user"
"$DOUBLES/scene" show box.scene | grep -i violation || echo no violation
