#!/usr/bin/env bash
# Our proofs and parameters before the reference program, and its proof before our verifier.
. "$(dirname "$0")/lib.sh"
need_oracle
c1=$shared/fixtures/porep/2KiB/c1.json

"$cuzk" prove --quiet --c1 "$c1" --miner 1000 --params-dir "$work" --out "$scratch/ours" --r 7 --s 11
expect 0 "VALID" "$oracle" verify --c1 "$c1" --vk "$work/porep-2k.dev.vk" --proof "$scratch/ours"
"$oracle" prove --c1 "$c1" --partition 0 --params "$work/porep-2k.dev.params" --out "$scratch/theirs" --r 7 --s 11
cmp "$scratch/ours" "$scratch/theirs" || fail "with the same r and s the proofs differ"
expect 0 "VALID" "$cuzk" verify --c1 "$c1" --vk "$work/porep-2k.dev.vk" --proof "$scratch/theirs"

# Other kinds of the same circuit; thirteen partitions of the non-interactive one are a long run, one
# of them is enough here.
for kind in 2KiB-V1 2KiB-synthetic; do
  other=$shared/fixtures/porep/$kind/c1.json
  "$cuzk" prove --quiet --c1 "$other" --params-dir "$work" --out "$scratch/other" >/dev/null 2>&1
  expect 0 "VALID" "$oracle" verify --c1 "$other" --vk "$work/porep-2k.dev.vk" --proof "$scratch/other"
done
other=$shared/fixtures/porep/2KiB-noninteractive/c1.json
"$cuzk" prove --quiet --c1 "$other" --partition 12 --params-dir "$work" --out "$scratch/other" >/dev/null 2>&1
expect 0 "VALID" "$oracle" verify --c1 "$other" --partition 12 --vk "$work/porep-2k.dev.vk" --proof "$scratch/other"

# A sector that did not exist before: another seed, miner and number.
"$oracle" seal --size 2KiB --seed 4242 --miner 123456789 --sector 77 --out "$scratch/sector" >/dev/null
fresh=$scratch/sector/c1.json
"$cuzk" prove --quiet --c1 "$fresh" --miner 123456789 --params-dir "$work" --out "$scratch/fresh"
expect 0 "VALID" "$oracle" verify --c1 "$fresh" --vk "$work/porep-2k.dev.vk" --proof "$scratch/fresh"
echo "the reference program agrees"
