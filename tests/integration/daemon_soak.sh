#!/usr/bin/env bash
# Many jobs through one daemon with a fake device: nothing lost, and resident memory stays flat.
# daemon_soak.sh BIN SOURCE WORK [JOBS]
. "$(dirname "$0")/lib.sh"
jobs=${4:-1000}
c1=$source/tests/fixtures/porep/2KiB/c1.json
socket=$scratch/cuzk.sock
cat >"$scratch/cuzk.toml" <<TOML
[daemon]
listen = "unix://$socket"
[srs]
param_cache = "$work"

TOML
CUZK_FAKE_DEVICE=delay_ms=2 "$bin/cuzk-daemon-fake" --config "$scratch/cuzk.toml" >"$scratch/daemon.log" 2>&1 &
daemon=$!
trap 'kill -9 $daemon 2>/dev/null || true; rm -rf "$scratch"' EXIT
for _ in $(seq 200); do
  "$bin/cuzk-bench" -a "unix://$socket" status >/dev/null 2>&1 && break
  sleep 0.1
done

rss() { # KiB of the daemon and its devices
  local sum=0 pid
  for pid in $daemon $(pgrep -P $daemon); do
    sum=$((sum + $(awk '/^RssAnon/ {print $2}' "/proc/$pid/status")))
  done
  echo $sum
}
batch() {
  "$bin/cuzk-bench" -a "unix://$socket" batch --type porep --c1 "$c1" --count "$1" --concurrency 15 >"$scratch/batch" ||
    { tail -3 "$scratch/batch" >&2; tail -20 "$scratch/daemon.log" >&2; fail "a batch"; }
  grep -q "^completed:     $1\$" "$scratch/batch" || fail "jobs were lost"
}
batch $((jobs / 5)) # warm: pools and caches have their size
early=$(rss)
for _ in 1 2 3 4; do
  batch $((jobs / 5))
  samples="${samples:-} $(rss)"
done
late=$(rss)
slope=$(((late - early) * 1024 / (jobs * 4 / 5)))
echo "anonymous memory after each fifth of $jobs jobs: $early$samples KiB; $slope bytes a job"
[ $slope -lt 4096 ] || fail "memory grows"
kill -TERM $daemon
code=0
wait $daemon || code=$?
[ $code -eq 0 ] || fail "the daemon ended with $code"
