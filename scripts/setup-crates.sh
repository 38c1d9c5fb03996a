#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the dependencies of fieldbus/ once for all clones, and gives a new clone a copy.
#
#   <cache>/crates/<key>-dependencies   what cargo made of them; the key is of Cargo.lock, the profiles, rustc
#                                       and this script, which names the calls
#   fieldbus/target                     this clone's own folder, as ever
#
# Crates of the workspace are never shared: cargo's names for them do not depend on the clone, so one clone
# would run the program of another. The files are hard links: cargo replaces a file, it never writes into one.
. "$(dirname "$0")/lib.sh"
cd "$ROOT/fieldbus"

KEPT_DAYS=30
key="$({ cat Cargo.toml Cargo.lock ../scripts/setup-crates.sh && rustc --version --verbose; } | sha256sum | cut -c 1-16)"
crates="$CACHE/crates/$key-dependencies"

# The calls of scripts/lint.sh, scripts/test.sh, the lab, the tests and the benchmarks: which crates and which
# targets a call selects decides the features of the dependencies, and so what is compiled. A workspace that
# does not compile is not the set-up's to report.
compile() {
    local calls=("clippy --workspace --all-targets" "test --workspace --no-run") crate call
    for crate in kadenz-segment kadenz-motion; do
        calls+=("build --release --package $crate" "build --package $crate")
    done
    calls+=("bench --no-run --package kadenz-segment --bench segment"
        "build --release --package kadenz-motion --example bare_loop"
        "build --workspace --example ethercrab_op"
        "build --workspace --bin kadenz-dynamics")
    for call in "${calls[@]}"; do
        # shellcheck disable=SC2086  # words
        CARGO_TARGET_DIR="$crates" CARGO_INCREMENTAL=0 cargo $call --locked --quiet --jobs "${JOBS:-$(nproc)}" \
            2>/dev/null || return 1
    done
}

# Removes the crates of the workspace, and programs linked from them.
strip_workspace() {
    local folder
    rm -rf "$crates/cxxbridge" "$crates/tmp"
    for folder in "$crates"/*/; do
        rm -rf "$folder/examples" "$folder/incremental"
        find "$folder" -maxdepth 1 -type f ! -name .cargo-lock -delete
        find "$folder" -mindepth 2 -maxdepth 2 -name '*kadenz*' -exec rm -rf {} +
        find "$folder/deps" -type f ! -name '*.rlib' ! -name '*.rmeta' ! -name '*.so' ! -name '*.d' -delete
    done
}

# Only a new clone: mixed with what cargo made here before, a crate may be taken for compiled and not be there.
[ ! -e target ] || exit 0
lock_cache
if [ ! -f "$crates/compiled" ]; then
    find "$CACHE/crates" -mindepth 1 -maxdepth 1 -mtime "+$KEPT_DAYS" -exec rm -rf {} + 2>/dev/null || true
    say "compiling the dependencies of fieldbus/, once for each Cargo.lock and compiler (minutes)"
    if ! compile; then
        say "a crate of fieldbus/ does not compile; make lint and make test show why"
        exit 0
    fi
    strip_workspace
    touch "$crates/compiled"
fi
# Links where the cache is on the same file system, copies elsewhere; target appears when it is whole.
rm -rf target.new
cp -al "$crates" target.new 2>/dev/null || { rm -rf target.new && cp -a "$crates" target.new; }
rm -f target.new/compiled
mv target.new target
