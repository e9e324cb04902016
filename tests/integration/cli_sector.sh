#!/usr/bin/env bash
# inspect, digest and prove --check-only on the 2 KiB fixture, good and damaged.
. "$(dirname "$0")/lib.sh"
fixture=$source/tests/fixtures/porep/2KiB

expect 0 "StackedDrg2KiBV1_1 (5)" "$cuzk" inspect --c1 "$fixture/c1.json"
expect 0 '"circuit_id": "porep-2k"' "$cuzk" inspect --json --c1 "$fixture/c1.json"
expect 0 "VALID" "$cuzk" prove --quiet --check-only --c1 "$fixture/c1.json" --miner 1000
expect 0 '"valid": true' "$cuzk" prove --quiet --json --check-only --c1 "$fixture/c1.json"
expect 0 "VALID" "$cuzk" prove --quiet --check-only --check-constraints --c1 "$fixture/c1.json"
expect 1 "CUZK-E-REPLICA-ID" "$cuzk" prove --quiet --check-only --c1 "$fixture/c1.json" --miner 1001
sed 's/.*"Phase1Out":"\([^"]*\)".*/\1/' "$fixture/c1.json" | base64 -d >"$scratch/bare.json"
expect 0 "VALID" "$cuzk" prove --quiet --check-only --c1 "$scratch/bare.json" --miner 1000
expect 0 "without a SectorNum in the file" \
  "$cuzk" prove --quiet --check-only --c1 "$scratch/bare.json" --miner 1001
expect 0 "without --miner" "$cuzk" prove --quiet --check-only --c1 "$fixture/c1.json"
expect 2 "there is no partition 1" "$cuzk" prove --quiet --check-only --c1 "$fixture/c1.json" --partition 1

expect 0 "806ad6e58d99d0cec0c12ee513e3690ce168b3b638cb420d3e4dd8edb66fc9e3" \
  "$cuzk" digest --quiet --circuit porep --size 2KiB --blocks "$scratch/blocks"
cmp "$scratch/blocks" "$source/tests/fixtures/golden/porep-2KiB.blocks" || fail "block digests differ"

head -c 70000 "$fixture/c1.json" >"$scratch/cut.json"
expect 1 "CUZK-E-JSON-TRUNCATED" "$cuzk" prove --quiet --check-only --c1 "$scratch/cut.json"
: >"$scratch/empty.json"
expect 1 "CUZK-E-JSON-TRUNCATED" "$cuzk" inspect --c1 "$scratch/empty.json"
echo '<html>not found</html>' >"$scratch/page.json"
expect 1 "CUZK-E-JSON-SYNTAX" "$cuzk" inspect --c1 "$scratch/page.json"
sed 's/"Phase1Out":"/"Phase1Out":"*/' "$fixture/c1.json" >"$scratch/base64.json"
expect 1 "CUZK-E-BASE64" "$cuzk" inspect --c1 "$scratch/base64.json"
sed 's/"SectorSize":2048/"SectorSize":4096/' "$fixture/c1.json" >"$scratch/size.json"
cmp -s "$scratch/size.json" "$fixture/c1.json" && fail "the fixture has another form than expected"
expect 1 "CUZK-E-SECTOR-SIZE" "$cuzk" inspect --c1 "$scratch/size.json"
head -c 10000 /dev/zero >"$scratch/zeros"
expect 1 "CUZK-E-JSON-SYNTAX" "$cuzk" inspect --c1 "$scratch/zeros"
# An interrupted command takes its unfinished files with it.
expect 3 "CUZK-E-CANCELLED" timeout --preserve-status -s INT 3 \
  "$cuzk" params setup --quiet --circuit porep-2k --threads 1 --out "$scratch/interrupted"
[ -d "$scratch/interrupted" ] || fail "the set-up had not begun when it was interrupted"
[ -z "$(ls -A "$scratch/interrupted")" ] || fail "an interrupted set-up left files behind"
echo "good and damaged sectors were told apart"
