# Shared by the integration tests: bash -eu, a scratch folder, and assertions that say what failed.
# Arguments of every test: BIN (folder of the programs), SOURCE (the project), WORK (a folder that
# the tests of one build share).
set -euo pipefail
bin=$1
source=$2
work=$3
cuzk=$bin/cuzk
mkdir -p "$work"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect EXIT-CODE TEXT COMMAND...: the exit code, and TEXT somewhere in stdout or stderr.
expect() {
  local want=$1 text=$2 code=0
  shift 2
  "$@" >"$scratch/out" 2>&1 || code=$?
  [ "$code" -eq "$want" ] || {
    cat "$scratch/out" >&2
    fail "exit code $code, $want expected: $*"
  }
  grep -qF -- "$text" "$scratch/out" || {
    cat "$scratch/out" >&2
    fail "'$text' is not in the output of: $*"
  }
}

# skip REASON: the test says that it did not run.
skip() {
  echo "SKIPPED: $*"
  exit 77
}

# The reference program, beside the checkout; its tests are skipped where it is not.
need_oracle() {
  oracle=$source/../shared/oracle/fil-oracle
  [ -x "$oracle" ] || skip "no reference program at ../shared/oracle"
  shared=$source/../shared
}
