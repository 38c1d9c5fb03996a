#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Lets all clones share what cargo compiles for fieldbus/, and compiles the dependencies once.
#
#   <cache>/crates/<key>    intermediate files of cargo; the key is of Cargo.lock, the profiles and rustc
#   fieldbus/.cargo/config.toml    names that folder; written here, not in the repository
#
# Programs stay in fieldbus/target of each clone. Crates of the workspace are of one clone alone,
# because cargo tells them apart by their path, and by the dates of their files as ever. A new clone
# may stand where an older one stood, with older files, so its files are touched once.
. "$(dirname "$0")/lib.sh"
cd "$ROOT/fieldbus"

SHARES=1.91 # cargo's build.build-dir
KEPT_DAYS=30

version="$(cargo --version | sed -n 's/^cargo \([0-9.]*\).*/\1/p')"
at_least "$version" "$SHARES" || exit 0

key="$({ cat Cargo.toml Cargo.lock && rustc --version --verbose; } | sha256sum | cut -c 1-16)"
crates="$CACHE/crates/$key"
config="# By scripts/setup-crates.sh
[build]
build-dir = \"$crates\"
incremental = false"
if [ "$(cat .cargo/config.toml 2>/dev/null)" != "$config" ]; then
    git ls-files -z | xargs -0 touch --no-create
    mkdir -p .cargo
    printf '%s\n' "$config" >.cargo/config.toml
    # Programs and crates of clones that may be gone; one that is in use is compiled again.
    find "$CACHE/crates" -path '*/deps/*' -type f -mtime +0 \
        \( -name '*kadenz*' -o -perm -u+x ! -name '*.so' \) -delete 2>/dev/null || true
fi
[ ! -f "$crates/compiled" ] || exit 0

lock_cache
[ ! -f "$crates/compiled" ] || exit 0
# Older keys, with the crates of clones that are gone.
find "$CACHE/crates" -mindepth 1 -maxdepth 1 -mtime "+$KEPT_DAYS" -exec rm -rf {} + 2>/dev/null || true
say "compiling the dependencies of fieldbus/, once for each Cargo.lock and compiler (minutes)"
# The calls of scripts/lint.sh, scripts/test.sh, the lab and the benchmarks. A workspace that does
# not compile is not the set-up's to report.
calls=("clippy --workspace --all-targets" "test --workspace --no-run")
for crate in kadenz-segment kadenz-motion; do
    calls+=("build --release --package $crate" "build --package $crate")
done
calls+=("build --package kadenz-dynamics" "bench --no-run --package kadenz-segment --bench segment")
calls+=("build --release --package kadenz-motion --bins --examples")
for call in "${calls[@]}"; do
    # shellcheck disable=SC2086  # words
    cargo $call --locked --quiet --jobs "${JOBS:-$(nproc)}" 2>/dev/null || {
        say "cargo $call failed; make lint and make test show why"
        exit 0
    }
done
touch "$crates/compiled"
