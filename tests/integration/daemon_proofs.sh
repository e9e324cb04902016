#!/usr/bin/env bash
# The daemon with the real device on a Unix socket and on TCP: a client that is not ours makes every
# call, cuzk-bench loads it, and all proofs verify.
. "$(dirname "$0")/lib.sh"
c1=$source/tests/fixtures/porep/2KiB/c1.json
socket=$scratch/cuzk.sock
cat >"$scratch/cuzk.toml" <<TOML
[daemon]
listen = "unix://$socket"
status_listen = "127.0.0.1:0"
state_dir = "$scratch/state"
[srs]
param_cache = "$work"
TOML

start() { # EXTRA...
  "$bin/cuzk-daemon" --config "$scratch/cuzk.toml" "$@" >"$scratch/daemon.log" 2>&1 &
  daemon=$!
  for _ in $(seq 200); do
    "$bin/cuzk-bench" -a "$address" status >/dev/null 2>&1 && return
    kill -0 "$daemon" 2>/dev/null || break
    sleep 0.1
  done
  cat "$scratch/daemon.log" >&2
  fail "the daemon does not answer"
}
stop() {
  kill -TERM "$daemon"
  local code=0
  wait "$daemon" || code=$?
  [ "$code" -eq 0 ] || { cat "$scratch/daemon.log" >&2; fail "the daemon ended with $code"; }
}
trap 'kill -9 "${daemon:-}" 2>/dev/null || true; rm -rf "$scratch"' EXIT

verify_all() {
  for proof in "$@"; do
    expect 0 VALID "$cuzk" verify --c1 "$c1" --miner 1000 --vk "$work/porep-2k.dev.vk" --proof "$proof"
    if [ -x "$source/../shared/oracle/fil-oracle" ]; then
      expect 0 VALID "$source/../shared/oracle/fil-oracle" verify --c1 "$c1" \
        --vk "$work/porep-2k.dev.vk" --proof "$proof"
    fi
  done
}

address=unix://$socket
start
if command -v npm >/dev/null; then
  modules=$work/grpcjs
  mkdir -p "$modules"
  cp "$source"/tests/grpcjs/*.json "$modules/"
  if (cd "$modules" && npm ci --silent --no-audit --no-fund); then
    (cd "$modules" && node "$source/tests/grpcjs/client.mjs" "$source/proto/cuzk.proto" "$address" "$c1" "$scratch") ||
      { tail -40 "$scratch/daemon.log" >&2; fail "the gRPC client"; }
    verify_all "$scratch"/js-*.bin
  else
    echo "the gRPC client could not be fetched: its part is left out"
  fi
fi
expect 3 ADDRESS-IN-USE "$bin/cuzk-daemon" --config "$scratch/cuzk.toml"
stop

address=http://127.0.0.1:19820
start --listen 127.0.0.1:19820
mkdir "$scratch/proofs"
"$bin/cuzk-bench" -a "$address" batch --type porep --c1 "$c1" --count "${COUNT:-4}" --concurrency 15 \
  --out "$scratch/proofs" | tee "$scratch/batch"
grep -q '^completed:     '"${COUNT:-4}"'$' "$scratch/batch" || fail "not all were completed"
verify_all "$scratch"/proofs/*.bin
kill -9 "$daemon"
expect 3 CONNECT "$bin/cuzk-bench" -a "$address" batch --type porep --c1 "$c1" --count 2
grep -c FAILED "$scratch/out" | grep -qx 2 || fail "a dead daemon must be a line for each proof"
echo "the daemon's proofs verify"
