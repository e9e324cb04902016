#!/usr/bin/env bash
# Makes the development parameters that the other tests share: make_params.sh BIN SOURCE WORK CIRCUIT
. "$(dirname "$0")/lib.sh"
circuit=$4
if [ -f "$work/$circuit.dev.params" ]; then
  "$cuzk" params check --quiet --circuit "$circuit" --params-dir "$work"
else
  "$cuzk" params setup --quiet --circuit "$circuit" --seed 1 --out "$work"
fi
[ -s "$work/$circuit.dev.params" ] && [ -s "$work/$circuit.dev.vk" ] || fail "no parameters"
