# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The kernels in Rust, and for which core each is compiled: what clippy reads and which dependencies a
# set-up compiles once. Sourced, never run.

# The definitions in a board's build file, which crates read as environment variables.
board_values() {
    sed -n 's/^ *\(KDZ_[A-Z_]*=[0-9a-zx]*\)).*$\|^ *\(KDZ_[A-Z_]*=[0-9a-zx]*\)$/\1\2/p' "$ROOT/$1" | tr '\n' ' '
}

# rust_kernels: their folders, a line each.
rust_kernels() {
    dirname kernels/*/Cargo.toml
}

# each_rust_kernel CALL: CALL FOLDER TARGET CPU VALUES for each. Stops at the first that fails.
each_rust_kernel() {
    local folder
    for folder in $(rust_kernels); do
        "$1" "$folder" thumbv7em-none-eabihf cortex-m4 "$(board_values boards/stm32f4/board.cmake) $(board_values boards/stm32/stm32.cmake)" || return 1
    done
    "$1" kernels/rtic riscv32imc-unknown-none-elf generic-rv32 \
        "$(board_values boards/softcore/softcore.cmake) KDZ_BOARD_CLINT_ADDRESS=0x02000000 RISCV_RT_BASE_ISA=rv32i"
}

# As suite/rust/build.cmake compiles them, with each instrument. clippy of a kernel checks suite/rust only
# when it is named.
clippy_kernel() { # FOLDER TARGET CPU VALUES
    local feature crate parts
    parts="$(sed -n 's/^build-std = "\([a-z,]*\)".*/\1/p' "$ROOT/$1/Cargo.toml")"
    for feature in counter scope; do
        for crate in suite/rust "$1"; do
            # shellcheck disable=SC2086  # words
            env $4 RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="${KERNEL_CRATES:-$ROOT/build/rust}" \
                cargo-clippy clippy --manifest-path "$ROOT/$crate/Cargo.toml" --locked --quiet \
                --features "$feature" --target "$2" -Z build-std="${parts:-core}" -- -D warnings || return 1
        done
    done
}

# The compiler that has the source of core: that of the cache (setup-rust-core.sh) or the one in PATH.
rust_core_compiler() {
    [ ! -x "$CACHE/rust/tools/bin/rustc" ] || export PATH="$CACHE/rust/tools/bin:$PATH"
    RUSTC="$(command -v rustc || true)"
    export RUSTC
}
