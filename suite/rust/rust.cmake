# SPDX-License-Identifier: Apache-2.0
# A kernel in Rust: cargo compiles its crate, with suite/rust, to a library that the image links.
#   KDZ_RUSTC             a rustc whose source of `core` is beside it: no target has to be installed
#   KDZ_ARCH_RUST_TARGET  from arch/<a>/arch.cmake
set(KDZ_RUSTC "" CACHE FILEPATH "rustc with the source of core, for kernels in Rust")

set(KDZ_CARGO_TARGET "${CMAKE_BINARY_DIR}/../rust" CACHE PATH "compiled crates, shared by all images")

# kdz_rust_library(FOLDER CRATE): adds the crate in FOLDER to the image.
function(kdz_rust_library folder crate)
    if(NOT KDZ_ARCH_RUST_TARGET)
        message(FATAL_ERROR "${crate}: arch/${KDZ_BOARD_ARCH}/arch.cmake names no KDZ_ARCH_RUST_TARGET.")
    endif()
    if(NOT KDZ_RUSTC)
        message(FATAL_ERROR "${crate}: pass -DKDZ_RUSTC=<rustc with the source of core>; `kadenz setup` provides one.")
    endif()
    # cargo compiles a crate once for each name of its folder: no links (kadenz/images/shared_name.py).
    get_filename_component(folder ${folder} REALPATH)
    get_filename_component(root ${kdz_root} REALPATH)
    execute_process(COMMAND ${KDZ_RUSTC} --version OUTPUT_VARIABLE rustc
        OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    get_target_property(values kadenz-board INTERFACE_COMPILE_DEFINITIONS)
    list(APPEND values ${KDZ_ARCH_RUST_VALUES})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS
        ${folder}/src/*.rs ${folder}/conf/* ${root}/suite/rust/src/*.rs)
    set(library ${CMAKE_CURRENT_BINARY_DIR}/lib${crate}.a)
    set(features ${KDZ_INSTRUMENT})
    if(KDZ_MINIMAL)
        string(APPEND features ",minimal")
    endif()
    add_custom_command(OUTPUT ${library}
        COMMAND ${CMAKE_COMMAND}
            -DKDZ_FOLDER=${folder} -DKDZ_LIBRARY=${library} -DKDZ_RUSTC=${KDZ_RUSTC}
            -DKDZ_TARGET=${KDZ_ARCH_RUST_TARGET} -DKDZ_CPU=${KDZ_ARCH_RUST_CPU}
            -DKDZ_FEATURES=${features} -DKDZ_CARGO_TARGET=${KDZ_CARGO_TARGET}
            "-DKDZ_VALUES=${values}" -P ${root}/suite/rust/build.cmake
        DEPENDS ${sources} ${folder}/Cargo.toml ${folder}/Cargo.lock
            ${root}/suite/rust/Cargo.toml ${root}/suite/rust/build.cmake
        COMMENT "cargo build ${crate}" VERBATIM)
    add_custom_target(${crate} DEPENDS ${library})
    add_dependencies(kadenz-suite ${crate})
    target_link_libraries(kadenz-suite PRIVATE ${library})
    # Only the objects of rustc say whether their stack has to be executable.
    target_link_options(kadenz-suite PRIVATE -Wl,-z,noexecstack)
    # What the manifest says about it.
    target_compile_definitions(kadenz-suite PRIVATE
        "KDZ_RUST_COMPILER=\"${rustc}\""
        "KDZ_RUST_TARGET=\"${KDZ_ARCH_RUST_TARGET} (${KDZ_ARCH_RUST_CPU})\"")
endfunction()

# kdz_rust_settings(FOLDER PINNED...): the versions of PINNED crates are definitions: KDZ_EMBASSY_SYNC.
function(kdz_rust_settings folder)
    foreach(pinned IN LISTS ARGN)
        kdz_crate_version(${folder}/Cargo.lock ${pinned} version)
        string(MAKE_C_IDENTIFIER ${pinned} name)
        string(TOUPPER ${name} name)
        target_compile_definitions(kadenz-suite PRIVATE KDZ_${name}="${version}")
    endforeach()
endfunction()

# kdz_rust_kernel(FOLDER CRATE PINNED...): the crate in FOLDER as the image's kernel, with the C part
# beside it; PINNED as above. For frameworks whose tasks await.
function(kdz_rust_kernel folder crate)
    kdz_rust_settings(${folder} ${ARGN})
    target_sources(kadenz-suite PRIVATE
        ${folder}/port.c
        ${kdz_root}/suite/rust/port.c
        ${KDZ_ARCH_TICK_DUE}) # SysTick drives the tick
    kdz_rust_library(${folder} ${crate})
    set_property(TARGET kadenz-suite PROPERTY KDZ_KERNEL_OWNS_MINIMAL ON) # suite/rust/src/minimal.rs
    # All tasks run on the board's one stack, in handlers; those of a channel hold its items there.
    target_link_options(kadenz-suite PRIVATE -Wl,--defsym=kdz_kernel_stack_bytes=24576)
endfunction()

# kdz_crate_version(LOCK NAME VARIABLE): the version that Cargo.lock pins.
function(kdz_crate_version lock name variable)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lock})
    file(READ ${lock} text)
    if(NOT text MATCHES "name = \"${name}\"\nversion = \"([^\"]+)\"")
        message(FATAL_ERROR "${lock} pins no ${name}.")
    endif()
    set(${variable} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()
