#!/usr/bin/env bash
# The daemon in a memory control group: it proves under 2.5 GiB and under the smallest limit that
# `cuzk plan` calls enough, with a peak within the limit; below that it refuses at once; it is never
# killed. Needs root and a memory controller.
. "$(dirname "$0")/lib.sh"
c1=$source/tests/fixtures/porep/2KiB/c1.json
if [ -w /sys/fs/cgroup/memory/cgroup.procs ]; then
  group=/sys/fs/cgroup/memory/cuzk-test-$$ limit=memory.limit_in_bytes peak=memory.max_usage_in_bytes
elif grep -qw memory /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null && [ -w /sys/fs/cgroup/cgroup.procs ]; then
  group=/sys/fs/cgroup/cuzk-test-$$ limit=memory.max peak=memory.peak
else
  skip "no memory control group can be made here"
fi
cleanup() {
  kill -9 "${daemon:-}" 2>/dev/null || true
  sleep 0.3
  rmdir "$group" 2>/dev/null || true
  rm -rf "$scratch"
}
trap cleanup EXIT

address=unix://$scratch/cuzk.sock
cat >"$scratch/cuzk.toml" <<TOML
[daemon]
listen = "$address"
[srs]
param_cache = "$work"
TOML
start() { # BYTES
  mkdir "$group"
  echo "$1" >"$group/$limit"
  bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$bin/cuzk-daemon" --config "$scratch/cuzk.toml" \
    >"$scratch/log" 2>&1 &
  daemon=$!
  for _ in $(seq 100); do
    "$bin/cuzk-bench" -a "$address" status >/dev/null 2>&1 && return
    kill -0 $daemon 2>/dev/null || return 0
    sleep 0.1
  done
}
stop() {
  kill -TERM $daemon 2>/dev/null || true
  code=0
  wait $daemon || code=$?
  for _ in $(seq 20); do rmdir "$group" 2>/dev/null && return; sleep 0.1; done
}
proves_under() { # BYTES
  start "$1"
  "$bin/cuzk-bench" -a "$address" single --type porep --c1 "$c1" --out "$scratch/proof" >"$scratch/out" 2>&1 ||
    { cat "$scratch/out" "$scratch/log" >&2; fail "no proof under $1 bytes"; }
  expect 0 VALID "$cuzk" verify --c1 "$c1" --miner 1000 --params-dir "$work" --proof "$scratch/proof"
  used=$(cat "$group/$peak")
  [ "$used" -le "$1" ] || fail "peak $used above the limit $1"
  stop
  [ "$code" -eq 0 ] || fail "the daemon ended with $code under $1 bytes"
  echo "limit $1, peak of the control group $used"
}

proves_under $((5 << 29))
smallest=$("$cuzk" plan --circuit porep-2k --json | sed -n 's/.*"smallest_bytes": \([0-9]*\).*/\1/p')
[ -n "$smallest" ] || fail "the plan does not name the smallest limit"
smallest=$((smallest * 10 / 9 + (4 << 20))) # the margin is a tenth of the limit; the group holds others too
proves_under "$smallest"

start $((smallest * 8 / 10))
before=$(date +%s%N)
code=0
"$bin/cuzk-bench" -a "$address" single --type porep --c1 "$c1" >"$scratch/out" 2>&1 || code=$?
ms=$((($(date +%s%N) - before) / 1000000))
[ "$code" -eq 3 ] && grep -q "CUZK-E-BUDGET" "$scratch/out" || { cat "$scratch/out" >&2; fail "no refusal"; }
[ "$ms" -lt 1000 ] || fail "the refusal took $ms ms"
kill -0 $daemon || fail "the daemon is gone"
stop
echo "below it: refused in $ms ms"
