# SPDX-License-Identifier: Apache-2.0
# Paths in debug information and __FILE__ begin at the checkout: equal sources give equal images in
# every checkout, and a compiler cache serves all of them. kadenz/images/debug_info.py knows both
# names. ccache gives the compiler paths relative to the build folder: the last option maps these.
# If several options match, GCC takes the last: the checkout may be a link in the build folder.
file(RELATIVE_PATH kdz_up ${CMAKE_BINARY_DIR} ${kdz_root})
string(REGEX REPLACE "([^/])$" "\\1/" kdz_up "${kdz_up}") # "../../" or "src/"
foreach(place ${CMAKE_BINARY_DIR}=/kadenz-build ${kdz_root}/=/kadenz/ ${kdz_up}=/kadenz/)
    add_compile_options($<$<COMPILE_LANGUAGE:C>:-ffile-prefix-map=${place}>
        $<$<COMPILE_LANGUAGE:ASM>:-fdebug-prefix-map=${place}>) # the one that GCC gives the assembler
endforeach()
