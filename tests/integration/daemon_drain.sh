#!/usr/bin/env bash
# SIGTERM with a job under way: it is finished and answered, new ones are refused; a second signal
# ends the daemon at once, and the job stays in the state folder and goes on with the next start.
. "$(dirname "$0")/lib.sh"
daemon=$bin/cuzk-daemon
bench=$bin/cuzk-bench
c1=$source/tests/fixtures/porep/2KiB/c1.json
pid=
stop_daemon() {
  if [ -n "$pid" ]; then kill -9 "$pid" 2>/dev/null || true; fi
  rm -rf "$scratch"
}
trap stop_daemon EXIT

# wait_for SECONDS COMMAND...: until it succeeds; the log is shown if it does not.
wait_for() {
  local tries=$(($1 * 5))
  shift
  until "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || {
      cat "$scratch/log" >&2
      fail "in vain: $*"
    }
    sleep 0.2
  done
}

cat >"$scratch/cuzk.toml" <<EOF
[daemon]
listen = "unix://$scratch/cuzk.sock"
state_dir = "$scratch/state"
drain_timeout = "200s"
[srs]
param_cache = "$work"
preload = ["porep-2k"]
[gpus]
backend = "cpu"
gpu_workers_per_device = 1
EOF
prove=("$bench" -a "unix://$scratch/cuzk.sock" single -t porep --c1 "$c1")

start_with_job() {
  "$daemon" --config "$scratch/cuzk.toml" 2>"$scratch/log" &
  pid=$!
  wait_for 60 grep -q "gRPC on unix" "$scratch/log"
  wait_for 120 grep -q "porep-2k is resident" "$scratch/log"
  "${prove[@]}" >"$scratch/proved" 2>&1 &
  client=$!
  # A job that has not begun would be left for the next start; this one begins at once.
  wait_for 60 grep -q "accepted" "$scratch/log"
  sleep 1
}

start_with_job
kill -TERM "$pid"
wait_for 10 grep -q "SIGTERM: no more jobs" "$scratch/log"
if "${prove[@]}" >"$scratch/refused" 2>&1; then fail "a job was accepted while stopping"; fi
grep -q "CUZK-E-STOPPING" "$scratch/refused" || fail "refused with: $(cat "$scratch/refused")"
wait "$client" || fail "the job under way was not answered: $(cat "$scratch/proved")"
grep -q COMPLETED "$scratch/proved" || fail "no COMPLETED: $(cat "$scratch/proved")"
code=0
wait "$pid" || code=$?
[ "$code" -eq 0 ] || fail "exit code $code after the drain"

start_with_job
kill -TERM "$pid"
wait_for 10 grep -q "SIGTERM: no more jobs" "$scratch/log"
kill -TERM "$pid"
wait_for 30 grep -q "SIGTERM again: ending at once" "$scratch/log"
code=0
wait "$pid" || code=$?
pid=
[ "$code" -eq 0 ] || fail "exit code $code after the second signal"
wait "$client" && fail "the job was answered as proved"

"$daemon" --config "$scratch/cuzk.toml" 2>"$scratch/log" &
pid=$!
wait_for 200 grep -q "completed in" "$scratch/log"
kill -TERM "$pid"
code=0
wait "$pid" || code=$?
pid=
[ "$code" -eq 0 ] || fail "exit code $code at the end"
echo "drained, ended at once, and went on"
