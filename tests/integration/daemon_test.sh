#!/usr/bin/env bash
# The daemon as a program: configuration, start on a Unix socket and on TCP, what the service manager
# hears, a second start, SIGTERM; and `cuzk doctor`.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3, which plays the service manager"
daemon=$bin/cuzk-daemon
pid=
stop_daemon() {
  if [ -n "$pid" ]; then kill -9 "$pid" 2>/dev/null || true; fi
  rm -rf "$scratch"
}
trap stop_daemon EXIT

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
  local tries=$(($1 * 10))
  shift
  until "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.1
  done
}

expect 0 "usage: cuzk-daemon" "$daemon" --help
expect 0 "cuzk-daemon 0." "$daemon" --version
expect 0 "usage: cuzk daemon" "$cuzk" daemon --help
expect 2 "CUZK-E-USAGE: --log-level" "$daemon" --log-level loud
expect 3 "CUZK-E-FILE-OPEN" "$daemon" --config "$scratch/none.toml"
printf '[daemon]\nlissten = "x:1"\n' >"$scratch/bad.toml"
expect 2 "the nearest key is daemon.listen" "$daemon" --config "$scratch/bad.toml"
expect 2 "CUZK-E-CONFIG: $scratch/bad.toml:2:" "$cuzk" doctor --config "$scratch/bad.toml"
printf '[gpus]\nbackend = "cuda"\n' >"$scratch/cuda.toml"
expect 2 "CUZK-E-UNSUPPORTED" "$daemon" --config "$scratch/cuda.toml"

mkdir "$scratch/params"
cat >"$scratch/cuzk.toml" <<EOF
[daemon]
listen = ["unix://$scratch/cuzk.sock", "127.0.0.1:0"]
status_listen = "127.0.0.1:0"
state_dir = "$scratch/state"
drain_timeout = "10s"
[srs]
param_cache = "$scratch/params"
preload = ["porep-2k"]
[memory]
pinned_budget = "1GiB"
[gpus]
backend = "cpu"
gpu_workers_per_device = 1
EOF

# Nothing runs: every address is free, and a device passes its self-test.
expect 0 "ok    device cpu:0" "$cuzk" doctor --config "$scratch/cuzk.toml"
grep -q "^warn  parameters porep-2k: missing" "$scratch/out" || fail "doctor does not miss porep-2k"
grep -q "cuzk params setup --circuit porep-2k" "$scratch/out" || fail "doctor names no remedy"
grep -q "^ok    parameters porep-32g: not needed" "$scratch/out" || fail "doctor: porep-32g"
grep -q "memory.pinned_budget is obsolete" "$scratch/out" || fail "doctor has no warning of the file"
expect 0 '"fail": 0' "$cuzk" doctor --config "$scratch/cuzk.toml" --json
sed 's/^param_cache/require_params = true\n&/' "$scratch/cuzk.toml" >"$scratch/strict.toml"
expect 3 "FAIL  parameters porep-2k: missing" "$cuzk" doctor --config "$scratch/strict.toml"
sed 's/^backend.*/&\ndevice_program = "\/bin\/false"/' "$scratch/cuzk.toml" >"$scratch/nodev.toml"
expect 3 "FAIL  device cpu:0" "$cuzk" doctor --config "$scratch/nodev.toml"

# The service manager is a socket that writes down what it gets.
python3 - "$scratch/notify" "$scratch/notified" <<'EOF' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(120)
with open(sys.argv[2], "w") as out:
    try:
        while True:
            text = s.recv(4096).decode()
            out.write(text + "\n")
            out.flush()
            if "STOPPING=1" in text:
                break
    except TimeoutError:
        pass
EOF
listener=$!
wait_for 20 test -S "$scratch/notify" || fail "no service manager"

NOTIFY_SOCKET=$scratch/notify WATCHDOG_USEC=1000000 \
  "$daemon" --config "$scratch/cuzk.toml" 2>"$scratch/log" &
pid=$!
wait_for 60 grep -q READY=1 "$scratch/notified" || {
  cat "$scratch/log" >&2
  fail "the daemon did not become ready"
}
for text in "budget" "gRPC on unix://$scratch/cuzk.sock" "gRPC on 127.0.0.1:" "HTTP on 127.0.0.1:" \
  "plan" "a circuit is not preloaded" "memory.pinned_budget is obsolete"; do
  grep -qF -- "$text" "$scratch/log" || {
    cat "$scratch/log" >&2
    fail "'$text' is not in the log"
  }
done
wait_for 20 grep -q WATCHDOG=1 "$scratch/notified" || fail "no WATCHDOG=1"
[ "$(stat -c %a "$scratch/cuzk.sock")" = 660 ] || fail "mode of the socket: $(stat -c %a "$scratch/cuzk.sock")"
http=$(sed -n 's/.*HTTP on \(127[0-9.:]*\).*/\1/p' "$scratch/log")
python3 - "$http" <<'EOF' || fail "HTTP does not answer"
import json, sys, urllib.request
base = "http://" + sys.argv[1]
assert urllib.request.urlopen(base + "/healthz", timeout=5).status == 200
assert "uptime_secs" in json.load(urllib.request.urlopen(base + "/status", timeout=5))
EOF

# The address has a live daemon; the first one goes on.
expect 3 "CUZK-E-ADDRESS-IN-USE" "$daemon" --config "$scratch/cuzk.toml"
expect 3 "CUZK-E-ADDRESS-IN-USE" "$cuzk" daemon --listen "unix://$scratch/cuzk.sock"
expect 3 "FAIL  gRPC address" "$cuzk" doctor --config "$scratch/cuzk.toml"
kill -HUP "$pid"
sleep 0.3
kill -0 "$pid" || fail "a second start or SIGHUP ended the first daemon"

kill -TERM "$pid"
code=0
wait "$pid" || code=$?
pid=
[ "$code" -eq 0 ] || {
  cat "$scratch/log" >&2
  fail "exit code $code after SIGTERM"
}
grep -q "SIGTERM: no more jobs" "$scratch/log" || fail "SIGTERM is not in the log"
wait "$listener"
grep -q STOPPING=1 "$scratch/notified" || fail "no STOPPING=1"

# A daemon that is killed leaves its socket; the next one takes it over.
"$daemon" --config "$scratch/cuzk.toml" 2>"$scratch/log" &
pid=$!
wait_for 60 grep -q "gRPC on unix" "$scratch/log" || fail "no second start"
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
"$daemon" --config "$scratch/cuzk.toml" 2>"$scratch/log" &
pid=$!
wait_for 60 grep -q "gRPC on unix" "$scratch/log" || {
  cat "$scratch/log" >&2
  fail "a dead socket is not taken over"
}
kill -INT "$pid"
code=0
wait "$pid" || code=$?
pid=
[ "$code" -eq 0 ] || fail "exit code $code after SIGINT"
echo "the daemon did as it should"
