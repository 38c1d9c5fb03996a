# SPDX-License-Identifier: Apache-2.0
# Instrument `pins`: the counter, and two pins of the board for a logic analyser. The board gives
# kdz_board_marks.h (what a stamp stores, and where), and kdz_board_marks_init, which is called when
# the counter is ready.
target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/on_target/start.c)
target_include_directories(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/on_target ${CMAKE_CURRENT_LIST_DIR}/../shared)
target_link_options(kadenz-suite PRIVATE -Wl,--wrap=kdz_clock_init)
