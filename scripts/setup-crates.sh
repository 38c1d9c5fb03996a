#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the dependencies of fieldbus/ and of the kernels in Rust once for all clones, and gives a new clone a
# copy.
#
#   <cache>/crates/<key>-<name>      what cargo made of them; the key is of each Cargo.toml and Cargo.lock,
#                                    rustc, and the scripts that name the calls
#   fieldbus/target, build/rust      this clone's own folders, as ever
#
# Crates of kadenz are not among them: cargo's names for them do not depend on the clone, so one clone would run the
# program of another. The files are hard links: cargo replaces a file, it never writes into one.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rust-kernels.sh"
cd "$ROOT"

KEPT_DAYS=30

# The calls of scripts/lint.sh, scripts/test.sh and the lab. Which crates and which targets a call selects decides the
# features of the dependencies, and so what is compiled: every call selects the whole workspace.
compile_fieldbus() { # INTO
    local call empty="$1/empty"
    mkdir -p "$1"
    hollow fieldbus "$empty"
    for call in "clippy --workspace --all-targets" "test --workspace --no-run" "build --release --workspace --bins"; do
        # shellcheck disable=SC2086  # words
        (cd "$empty" && CARGO_TARGET_DIR="$1" CARGO_INCREMENTAL=0 cargo $call --locked --quiet \
            --jobs "${JOBS:-$(nproc)}") || return 1
    done
    rm -r "$empty"
}

# hollow WORKSPACE INTO: a workspace with the same crates and dependencies, and nothing in its crates.
hollow() {
    (cd "$1" && find . -path ./target -prune -o \( -name 'Cargo.*' -o -path '*/src/lib.rs' -o -path '*/src/main.rs' \
        -o -name build.rs -o -path '*/benches/*.rs' \) -print) | while read -r file; do
        mkdir -p "$2/$(dirname "$file")"
        case "$file" in
        *.rs) echo 'fn main() {}' >"$2/$file" ;;
        *) cp "$1/$file" "$2/$file" ;;
        esac
    done
}

# Images with counter and with scope have the same dependencies. suite/rust/build.cmake knows the options.
compile_kernel() { # FOLDER TARGET CPU VALUES
    local values library
    values="$(tr -s ' ' ';' <<<"${4% }")"
    library="$into/artifacts/lib$(basename "$1").a"
    cmake -DKDZ_FOLDER="$ROOT/$1" -DKDZ_LIBRARY="$library" -DKDZ_RUSTC="$RUSTC" -DKDZ_TARGET="$2" -DKDZ_CPU="$3" \
        -DKDZ_FEATURES=counter -DKDZ_CARGO_TARGET="$into" "-DKDZ_VALUES=$values" -P suite/rust/build.cmake
}
compile_kernels() { # INTO
    local into="$1"
    rust_core_compiler
    each_rust_kernel compile_kernel && KERNEL_CRATES="$into" each_rust_kernel clippy_kernel
}

# strip FOLDER: removes the crates of kadenz, and programs linked from them, from what cargo wrote there.
strip() {
    local folder
    rm -rf "$1/cxxbridge" "$1/tmp" "$1/artifacts"
    find "$1" -name .fingerprint -printf '%h\n' | while read -r folder; do
        rm -rf "$folder/examples" "$folder/incremental"
        find "$folder" -maxdepth 1 -type f -delete # with cargo's lock, which clones would share
        find "$folder" -mindepth 2 -maxdepth 2 -name '*kadenz*' -exec rm -rf {} +
        find "$folder/deps" -type f ! -name '*.rlib' ! -name '*.rmeta' ! -name '*.so' ! -name '*.d' -delete
    done
}

# provide NAME FOLDER COMPILE FILE...: FOLDER of this clone gets the compiled dependencies; FILEs decide them.
provide() {
    local name="$1" folder="$2" compile="$3" key kept
    shift 3
    # Only a new clone: mixed with what cargo made here before, a crate may be taken for compiled and not be there.
    [ ! -e "$folder" ] || return 0
    key="$({ cat "$@" scripts/setup-crates.sh && "${RUSTC:-rustc}" --version --verbose; } | sha256sum | cut -c 1-16)"
    kept="$CACHE/crates/$key-$name"
    lock_cache
    if [ ! -f "$kept/compiled" ]; then
        find "$CACHE/crates" -mindepth 1 -maxdepth 1 -mtime "+$KEPT_DAYS" -exec rm -rf {} + 2>/dev/null || true
        say "compiling the dependencies of $name, once for each Cargo.lock and compiler (minutes)"
        # A crate that does not compile is not the set-up's to report.
        if ! "$compile" "$kept" 2>/dev/null; then
            say "a crate of $name does not compile; make lint and make test show why"
            return 0
        fi
        strip "$kept"
        touch "$kept/compiled"
    fi
    # Links where the cache is on the same file system, copies elsewhere; the folder appears when it is whole.
    mkdir -p "$(dirname "$folder")"
    rm -rf "$folder.new"
    cp -al "$kept" "$folder.new" 2>/dev/null || { rm -rf "$folder.new" && cp -a "$kept" "$folder.new"; }
    rm -f "$folder.new/compiled"
    mv "$folder.new" "$folder"
}

provide fieldbus fieldbus/target compile_fieldbus fieldbus/Cargo.toml fieldbus/Cargo.lock
rust_core_compiler
provide rust-kernels build/rust compile_kernels \
    {suite/rust,kernels/*}/Cargo.{toml,lock} suite/rust/build.cmake scripts/rust-kernels.sh
