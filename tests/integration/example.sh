#!/usr/bin/env bash
# Installs libcuzk into an empty prefix and builds examples/prove.c against it with nothing but
# pkg-config, shared and static; both must prove, and the proofs must verify.
. "$(dirname "$0")/lib.sh"
build=$4
c1=$source/tests/fixtures/porep/2KiB/c1.json
cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
library_dir=$(dirname "$(find "$scratch/prefix" -name libcuzk.a)")
export PKG_CONFIG_PATH=$library_dir/pkgconfig
pc() { pkg-config "$@" cuzk; }
# shellcheck disable=SC2046
gcc -Wall -Wextra -Werror -o "$scratch/shared" "$source/examples/prove.c" $(pc --cflags --libs)
# shellcheck disable=SC2046
gcc -Wall -Wextra -Werror -o "$scratch/static" "$source/examples/prove.c" $(pc --cflags) \
  "$library_dir/libcuzk.a" $(pc --static --libs-only-l | sed 's/-lcuzk//')
for kind in shared static; do
  LD_LIBRARY_PATH=$library_dir "$scratch/$kind" "$c1" "$work" "$scratch/$kind.proof"
  expect 0 "VALID" "$cuzk" verify --c1 "$c1" --params-dir "$work" --proof "$scratch/$kind.proof"
done

# Nothing but the API is visible, in either library.
nm -D --defined-only "$library_dir/libcuzk.so" | awk '$2 ~ /[A-Z]/ {print $3}' | sort >"$scratch/so"
nm --defined-only --extern-only "$library_dir/libcuzk.a" | awk 'NF == 3 {print $3}' | sort >"$scratch/a"
diff "$source/tests/integration/exported_symbols.txt" "$scratch/so" || fail "libcuzk.so exports other symbols"
diff "$source/tests/integration/exported_symbols.txt" "$scratch/a" || fail "libcuzk.a exports other symbols"
echo "the example proves with both libraries"
