#!/usr/bin/env bash
# A 16 KiB sector (trees of two kinds of levels, as 32 GiB has) proved with our parameters.
. "$(dirname "$0")/lib.sh"
need_oracle
c1=$shared/fixtures/porep/16KiB/c1.json
"$cuzk" prove --quiet --c1 "$c1" --params-dir "$work" --out "$scratch/proof"
expect 0 "VALID" "$oracle" verify --c1 "$c1" --vk "$work/porep-16k.dev.vk" --proof "$scratch/proof"
echo "the reference program says VALID of the 16 KiB proof"
