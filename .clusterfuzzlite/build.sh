#!/usr/bin/env bash
# Builds every fuzzer of tests/fuzz for ClusterFuzzLite, which sets the variables: the compiler and its flags, SRC, WORK,
# OUT, SANITIZER and LIB_FUZZING_ENGINE. OUT gets for each its seeds, dictionary and options, and the libraries of all.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$SRC/fleetprof"

tree=$WORK/fleetprof
case "$SANITIZER" in
address | undefined) checks=$SANITIZER ;;
*) checks=none ;; # coverage
esac

# The machine that runs the fuzzers has only what lies beside them.
export LDFLAGS="${LDFLAGS-} -Wl,--disable-new-dtags -Wl,-rpath,\$ORIGIN/lib"

meson setup "$tree" --debug --optimization 1 -Db_sanitize="$checks" -Db_lundef=false \
    -Dfuzz=true -Dfuzz_engine="$LIB_FUZZING_ENGINE" -Dmodules=false

mapfile -t sources < <(find tests/fuzz -name '*_fuzz.c' | sort)
ninja -C "$tree" "${sources[@]%.c}"

mkdir -p "$OUT/lib"
for source in "${sources[@]}"; do
    base=${source%_fuzz.c}
    name=$(basename "${source%.c}")
    cp "$tree/${source%.c}" "$OUT/$name"
    (cd "${base}_seeds" && zip -q "$OUT/${name}_seed_corpus.zip" -- *)
    [ ! -e "$base.dict" ] || cp "$base.dict" "$OUT/$name.dict"
    # "-entropic=0" becomes "entropic = 0".
    [ ! -e "$base.options" ] || { echo '[libfuzzer]'; sed -E 's/^-([^=]*)=/\1 = /' "$base.options"; } >"$OUT/$name.options"
done

# Leaves out libraries that each Linux has: the C library and its parts.
find "$OUT" -maxdepth 1 -name '*_fuzz' -exec ldd {} + | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|libstdc\+\+)\.so' | xargs -r cp -L -t "$OUT/lib"
