# SPDX-License-Identifier: Apache-2.0
# A board with an FE310 calls kdz_fe310(PLL_TIMES HAS_LFCLKMUX): what the PLL multiplies 8 MHz by
# before it halves it, and 1 on a chip that can choose its slow clock.
set(KDZ_BOARD_CLINT_ADDRESS 0x02000000) # FE310-G002 Manual v1p5, chapter 9
set(fe310 ${CMAKE_CURRENT_LIST_DIR})
include(${kdz_root}/boards/clint/clint.cmake)

function(kdz_fe310 pll_times has_lfclkmux)
    kdz_clint(${fe310}/console.c ${fe310}/chip.c)
    target_include_directories(kadenz-suite PRIVATE ${fe310}/include)
    if(KDZ_INSTRUMENT STREQUAL "pins")
        target_sources(kadenz-suite PRIVATE ${fe310}/marks.c)
    endif()
    target_compile_definitions(kadenz-suite PRIVATE
        KDZ_FE310_PLL_TIMES=${pll_times}u
        KDZ_FE310_HAS_LFCLKMUX=${has_lfclkmux})
    target_compile_definitions(kadenz-board INTERFACE
        # mtime counts the 32768 Hz crystal. 1024 Hz divides it exactly; 1000 Hz would not.
        KDZ_BOARD_TIMER_HZ=32768u
        KDZ_BOARD_TICK_HZ=1024u
        # Memory for the threads and objects of a kernel that allocates, out of 16 KiB: the most
        # that the suite ever holds are the seven tasks of hartstone/ with 512 bytes of stack each.
        KDZ_BOARD_HEAP_BYTES=6560u
        # Largest message of itc/: the 600 bytes of yoo2024.
        KDZ_MESSAGE_BYTES_MAX=600u)
endfunction()
