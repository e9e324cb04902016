#!/usr/bin/env bash
# Lets snarkjs verify a proof of ours. Fetches snarkjs (pinned, integrity-checked) with npm.
. "$(dirname "$0")/lib.sh"
command -v npm >/dev/null || skip "npm is not installed"
c1=$source/tests/fixtures/porep/2KiB/c1.json
tool=$work/snarkjs
mkdir -p "$tool"
cp "$source/tests/snarkjs/package.json" "$source/tests/snarkjs/package-lock.json" "$tool/"
(cd "$tool" && npm ci --silent --no-audit --no-fund) || skip "snarkjs could not be fetched"

"$cuzk" prove --quiet --c1 "$c1" --params-dir "$work" --out "$scratch/proof" >/dev/null 2>&1
"$cuzk" export --snarkjs "$scratch/export" --c1 "$c1" --params-dir "$work" --proof "$scratch/proof"
cd "$scratch/export"
snarkjs=$tool/node_modules/.bin/snarkjs
expect 0 "OK!" "$snarkjs" groth16 verify verification_key.json public.json proof.json
# A verifier that always says OK would be no check.
sed '5s/"[0-9]*"/"123456"/' public.json >"$scratch/wrong.json"
cmp -s public.json "$scratch/wrong.json" && fail "the input was not changed"
expect 1 "Invalid proof" "$snarkjs" groth16 verify verification_key.json "$scratch/wrong.json" proof.json
echo "snarkjs says OK of our proof, and refuses another statement"
