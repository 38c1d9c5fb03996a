# SPDX-License-Identifier: Apache-2.0
# How frames leave a board: by its own UART, or through a debugger. A board calls
# kdz_console(FILE), FILE being its UART's; both implement kadenz/console.h.
set(KDZ_CONSOLE "uart" CACHE STRING "how frames leave a board: uart or rtt")
set(kdz_consoles ${CMAKE_CURRENT_LIST_DIR})

function(kdz_console uart)
    set(rtt ${kdz_consoles}/rtt.c)
    if(NOT KDZ_CONSOLE MATCHES "^(uart|rtt)$")
        message(FATAL_ERROR "KDZ_CONSOLE='${KDZ_CONSOLE}': uart or rtt")
    endif()
    target_sources(kadenz-suite PRIVATE ${${KDZ_CONSOLE}})
endfunction()
