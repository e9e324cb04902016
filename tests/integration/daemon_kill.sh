#!/usr/bin/env bash
# kill -9 of the daemon at many points: a job that was acknowledged is answered after the next start.
. "$(dirname "$0")/lib.sh"
c1=$source/tests/fixtures/porep/2KiB/c1.json
socket=$scratch/cuzk.sock
cat >"$scratch/cuzk.toml" <<TOML
[daemon]
listen = "unix://$socket"
state_dir = "$scratch/state"
[srs]
param_cache = "$work"

TOML
trap 'kill -9 ${daemon:-} 2>/dev/null || true; rm -rf "$scratch"' EXIT
bench() { "$bin/cuzk-bench" -a "unix://$socket" "$@"; }
start() {
  CUZK_FAKE_DEVICE=start_ms=80 "$bin/cuzk-daemon-fake" --config "$scratch/cuzk.toml" >>"$scratch/daemon.log" 2>&1 &
  daemon=$!
  for _ in $(seq 200); do
    bench status >/dev/null 2>&1 && return
    sleep 0.05
  done
  tail -20 "$scratch/daemon.log" >&2
  fail "the daemon does not start"
}
start
for round in $(seq 12); do
  bench submit --type porep --c1 "$c1" --request-id "kill-$round" >"$scratch/job" || fail "submit $round"
  id=$(sed -n 's/^job: *//p' "$scratch/job")
  # From at once to after the proof: 0, 15, … 165 ms.
  sleep "$(printf '0.%03d' $(((round - 1) * 15)))"
  kill -9 $daemon
  wait $daemon 2>/dev/null || true
  pgrep -f "cuzk-device.*$scratch" && fail "a device outlives its daemon"
  start
  bench await --job "$id" --timeout 60 >"$scratch/answer" || { cat "$scratch/answer"; fail "job $round"; }
  grep -q '^status: *COMPLETED' "$scratch/answer" || { cat "$scratch/answer"; fail "job $round is not completed"; }
  again=$(bench submit --type porep --c1 "$c1" --request-id "kill-$round" | sed -n 's/^job: *//p')
  [ "$again" = "$id" ] || fail "the same request became another job after the restart"
done
echo "12 kills, no job lost"
