#!/usr/bin/env bash
# A 2 KiB sector from C1 to a verified proof, with development parameters, and what goes wrong.
. "$(dirname "$0")/lib.sh"
c1=$source/tests/fixtures/porep/2KiB/c1.json
params=$work/porep-2k.dev.params
vk=$work/porep-2k.dev.vk

expect 0 "VALID $scratch/proof" \
  "$cuzk" prove --quiet --c1 "$c1" --miner 1000 --params-dir "$work" --out "$scratch/proof"
[ "$(stat -c %s "$scratch/proof")" -eq 192 ] || fail "a proof has 192 bytes"
expect 0 "VALID" "$cuzk" verify --c1 "$c1" --miner 1000 --vk "$vk" --proof "$scratch/proof"
expect 0 "VALID" "$cuzk" verify --c1 "$c1" --params-dir "$work" --proof "$scratch/proof" --partition 0
expect 1 "CUZK-E-REPLICA-ID" "$cuzk" verify --c1 "$c1" --miner 7 --vk "$vk" --proof "$scratch/proof"

# Fresh blinding factors: another proof of the same statement. Fixed ones: the same proof.
"$cuzk" prove --quiet --c1 "$c1" --params-dir "$params" --out "$scratch/again" >/dev/null 2>&1
cmp -s "$scratch/proof" "$scratch/again" && fail "two proofs with fresh blinding factors are equal"
expect 0 "VALID" "$cuzk" verify --c1 "$c1" --vk "$vk" --proof "$scratch/again"
for i in 1 2; do
  "$cuzk" prove --quiet --json --c1 "$c1" --params-dir "$params" --out "$scratch/fixed$i" --r 7 --s 11 \
    --threads "$i" >/dev/null 2>&1
done
cmp "$scratch/fixed1" "$scratch/fixed2" || fail "fixed blinding factors gave two proofs"

# Damaged proofs.
expect 1 "CUZK-E-PROOF-ENCODING" "$cuzk" verify --c1 "$c1" --vk "$vk" --proof "$c1"
head -c 100 "$scratch/proof" >"$scratch/short"
expect 1 "CUZK-E-PROOF-ENCODING" "$cuzk" verify --c1 "$c1" --vk "$vk" --proof "$scratch/short"
{ tail -c 48 "$scratch/proof"; tail -c +49 "$scratch/proof" | head -c 96; head -c 48 "$scratch/proof"; } >"$scratch/swapped"
expect 1 "CUZK-E-PROOF-INVALID: partition 0" "$cuzk" verify --c1 "$c1" --vk "$vk" --proof "$scratch/swapped"

# Parameters that are missing, or not what they should be; nothing is left behind.
mkdir "$scratch/none"
expect 3 "CUZK-E-PARAM-MISSING" \
  "$cuzk" prove --quiet --c1 "$c1" --params-dir "$scratch/none" --out "$scratch/x"
head -c 100000 "$params" >"$scratch/porep-2k.dev.params"
expect 3 "CUZK-E-PARAM-TRUNC" \
  "$cuzk" prove --quiet --c1 "$c1" --params-dir "$scratch/porep-2k.dev.params" --out "$scratch/x"
echo '<html>404</html>' >"$scratch/page.params"
expect 3 "CUZK-E-PARAM-HTML" \
  "$cuzk" prove --quiet --c1 "$c1" --params-dir "$scratch/page.params" --out "$scratch/x"
head -c 5000 /dev/zero >"$scratch/zero.params"
expect 3 "CUZK-E-PARAM-ZERO" \
  "$cuzk" prove --quiet --c1 "$c1" --params-dir "$scratch/zero.params" --out "$scratch/x"
expect 3 "CUZK-E-FILE-WRITE" \
  "$cuzk" prove --quiet --c1 "$c1" --params-dir "$work" --out "$scratch/no/folder/x"
mkfifo "$scratch/pipe"
for out in "$scratch" "$scratch/pipe"; do
  expect 3 "CUZK-E-FILE-WRITE: $out: it is not a regular file" \
    "$cuzk" prove --quiet --c1 "$c1" --params-dir "$scratch/none" --out "$out"
done
expect 3 "CUZK-E-FILE-READ" "$cuzk" verify --c1 "$c1" --vk "$vk" --proof "$scratch/pipe"
[ ! -e "$scratch/x" ] || fail "a failed proof left an output"
expect 0 "porep-2k    params  development" "$cuzk" params list --params-dir "$work"
expect 0 "VALID" "$cuzk" params check --quiet --circuit porep-2k --params-dir "$work"
echo "proved, verified, and refused what had to be"
