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
execute_process(
    COMMAND ${CMAKE_COMMAND} -E env ${environment}
        cargo build --release --locked --quiet --target ${KDZ_TARGET} --features ${KDZ_FEATURES}
        -Z build-std=core # Debian has no compiled core for boards
        -Z checksum-freshness # by content: an archive unpacked over a tree may bring older dates
        -Z unstable-options --artifact-dir ${out}
    WORKING_DIRECTORY ${KDZ_FOLDER}
    RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "cargo build: ${failed}")
endif()

file(TOUCH ${KDZ_LIBRARY}) # cargo's date is that of its own build
