#!/usr/bin/env bash
# What every command answers to help, wrong arguments, and files that are not there.
. "$(dirname "$0")/lib.sh"

expect 0 "usage: cuzk COMMAND" "$cuzk" --help
expect 0 "cuzk 0." "$cuzk" --version
expect 2 "usage: cuzk COMMAND" "$cuzk"
expect 2 "CUZK-E-USAGE: frobnicate" "$cuzk" frobnicate
for command in prove verify inspect digest export "params setup" "params list" "params check"; do
  # shellcheck disable=SC2086
  expect 0 "usage: cuzk $command" "$cuzk" $command --help
  # shellcheck disable=SC2086
  expect 2 "CUZK-E-USAGE" "$cuzk" $command --no-such-option
  # shellcheck disable=SC2086
  expect 2 "CUZK-E-USAGE: stray" "$cuzk" $command stray
done
expect 2 "CUZK-E-USAGE: params" "$cuzk" params
expect 2 "--c1 is missing" "$cuzk" prove
expect 2 "needs a value" "$cuzk" prove --c1
expect 2 "is not a number" "$cuzk" prove --c1 x --miner abc
expect 2 "is not a number" "$cuzk" prove --c1 x --miner 99999999999999999999999
expect 2 "is not a number" "$cuzk" prove --c1 x --miner -5
expect 2 "CUZK-E-UNSUPPORTED: --backend" "$cuzk" prove --c1 x --backend cuda
expect 2 "CUZK-E-USAGE: --backend" "$cuzk" prove --c1 x --backend gpu
expect 2 "is too many" "$cuzk" prove --c1 x --threads 5000000000
expect 2 "is too many" "$cuzk" digest --circuit porep-2k --threads 1025
expect 2 "give both or none" "$cuzk" prove --c1 x --r 5
expect 2 "there is no circuit 'porep-3k'" "$cuzk" digest --circuit porep-3k
expect 2 "there is no circuit 'porep 3KiB'" "$cuzk" digest --circuit porep --size 3KiB
expect 2 "needs a size" "$cuzk" digest --circuit porep
expect 2 "CUZK-E-UNSUPPORTED" "$cuzk" digest --circuit winning-2k
code=0
"$cuzk" --help 2>"$scratch/full" >/dev/full || code=$?
[ "$code" -eq 3 ] || fail "exit code $code when standard output is full"
grep -q "CUZK-E-FILE-WRITE: standard output" "$scratch/full" || fail "a full standard output has no error"
expect 3 "CUZK-E-FILE-OPEN: $scratch/none" "$cuzk" inspect --c1 "$scratch/none"
expect 3 "CUZK-E-FILE-READ" "$cuzk" inspect --c1 "$scratch"
expect 3 "CUZK-E-FILE-WRITE" "$cuzk" digest --quiet --circuit porep-2k --blocks "$scratch/no/such/file"
echo "every answer was as expected"
