#!/usr/bin/env bash
# `cuzk plan`: what it prints for budgets that are ample, tight and too small.
. "$(dirname "$0")/lib.sh"

plan() { "$cuzk" plan --cpus 16 "$@"; }
# A number out of the JSON plan of these options.
number() {
  local key=$1
  shift
  plan --json "$@" | sed -n "s/^  \"$key\": \([0-9]*\),*$/\1/p"
}

expect 0 "usage: cuzk plan" "$cuzk" plan --help
expect 2 "--circuit is missing" "$cuzk" plan
expect 2 "there is no circuit 'porep-3k'" "$cuzk" plan --circuit porep-3k
expect 2 "CUZK-E-UNSUPPORTED: --vram" "$cuzk" plan --circuit porep-2k --vram 80GiB
expect 2 "CUZK-E-USAGE: --memory" "$cuzk" plan --circuit porep-2k --memory much
expect 2 "CUZK-E-USAGE: --max-message" "$cuzk" plan --circuit porep-2k --max-message 0
expect 2 "CUZK-E-USAGE: --workers" "$cuzk" plan --circuit porep-2k --workers 0
expect 2 "CUZK-E-USAGE: --gpu-workers" "$cuzk" plan --circuit porep-2k --gpu-workers 5000

# What the machine gives is the budget where none is named, and each of its terms is printed.
expect 0 "memory             host " "$cuzk" plan --circuit porep-2k --max-message 1MiB
for term in enough "base daemon" "base device" srs "domain tables" matrices inputs messages witnesses \
  "critical slot" "a, b, c" scratch "pending proofs" peak smallest next throughput; do
  grep -q "^$term " "$scratch/out" || fail "no line for $term"
done

# The JSON is JSON, and its terms add up.
plan --json --circuit porep-2k,porep-16k --memory 64GiB --workers 10 --gpu-workers 2 --devices 2 \
  >"$scratch/plan.json"
python3 - "$scratch/plan.json" <<'PY' || fail "the JSON plan does not add up"
import json, sys
p = json.load(open(sys.argv[1]))
assert p["circuits"] == ["porep-2k", "porep-16k"]
assert p["fits"] and not p["reduced"] and not p["sequential"]
assert (p["partition_workers"], p["device_workers"], p["devices"]) == (10, 2, 2)
assert all(t["bytes"] == t["each_bytes"] * t["count"] for t in p["terms"])
assert sum(t["bytes"] for t in p["terms"]) == p["peak_bytes"] <= p["budget_bytes"]
assert p["budget_bytes"] == (64 - 5) << 30
PY

# With what it calls enough it fits; with a little less it is refused, and printed all the same.
plan --circuit porep-2k >"$scratch/plan"
enough=$(sed -n 's/^enough .*(\([0-9]*\) bytes).*/\1/p' "$scratch/plan")
expect 0 "sequential: one partition" plan --circuit porep-2k --workers 4 --memory "$enough"
expect 3 "CUZK-E-BUDGET: plan: needs " plan --circuit porep-2k --memory $((enough - 10))
grep -q "^peak " "$scratch/out" || fail "a plan that does not fit is not printed"
expect 3 "limited by --memory" plan --json --circuit porep-2k --memory 1GiB

# Between that and what was asked for, there are fewer partition workers.
peak=$(number peak_bytes --circuit porep-2k --workers 10)
expect 0 "(10 were asked for)" plan --circuit porep-2k --workers 10 \
  --memory $(((peak - (14 << 20)) / 9 * 10))
grep -q "^throughput  *memory: " "$scratch/out" || fail "memory is not named as what is short"
echo "every plan was as expected"
