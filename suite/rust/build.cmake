# SPDX-License-Identifier: Apache-2.0
# Runs cargo for suite/rust/rust.cmake, quietly: what it prints is an error. One folder of compiled
# crates serves all images; the library is put beside the image while cargo holds its lock.
cmake_minimum_required(VERSION 3.22)

get_filename_component(name ${KDZ_LIBRARY} NAME)
get_filename_component(out ${KDZ_LIBRARY} DIRECTORY)
set(environment
    RUSTC=${KDZ_RUSTC}
    RUSTC_BOOTSTRAP=1 # the three options with -Z below
    CARGO_TARGET_DIR=${KDZ_CARGO_TARGET}
    # Like the C part: one processor. Panics name a line and no file: a path of this machine has no
    # place in an image.
    "RUSTFLAGS=-C target-cpu=${KDZ_CPU} -Z location-detail=line")
foreach(value IN LISTS KDZ_VALUES) # KDZ_BOARD_TICK_HZ=1000u
    list(APPEND environment ${value})
endforeach()
# The parts of Rust's library; a crate that allocates names more: [package.metadata.kadenz]
file(STRINGS ${KDZ_FOLDER}/Cargo.toml parts REGEX "^build-std = ")
if(NOT parts MATCHES "^build-std = \"([a-z,]+)\"")
    set(parts core)
else()
    set(parts ${CMAKE_MATCH_1})
endif()
execute_process(
    COMMAND ${CMAKE_COMMAND} -E env ${environment}
        cargo build --release --locked --quiet --target ${KDZ_TARGET} --features ${KDZ_FEATURES}
        -Z build-std=${parts} # Debian has no compiled core for boards
        -Z checksum-freshness # by content: an archive unpacked over a tree may bring older dates
        -Z unstable-options --artifact-dir ${out}
    WORKING_DIRECTORY ${KDZ_FOLDER}
    RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "cargo build: ${failed}")
endif()

file(TOUCH ${KDZ_LIBRARY}) # cargo's date is that of its own build
