# SPDX-License-Identifier: Apache-2.0
# ESP-IDF builds its images itself: this list is what `kadenz export-suite` gives to a component. The
# port is FreeRTOS's, with its folder esp-idf for start, cores and the names of headers.
set(freertos ${CMAKE_CURRENT_LIST_DIR}/../freertos)
target_sources(kadenz-suite PRIVATE
    ${freertos}/esp-idf/start.c
    ${freertos}/esp-idf/cores.c
    ${freertos}/threads.c
    ${freertos}/objects.c
    ${freertos}/channels.c
    ${freertos}/event_flags.c
    ${freertos}/barrier.c
    ${freertos}/callback_timers.c
    ${freertos}/heap.c
    ${freertos}/settings.c
    ${freertos}/watch.c
    ${freertos}/delay.c)
target_include_directories(kadenz-suite PRIVATE ${freertos}/esp-idf/include ${freertos})
target_compile_definitions(kadenz-suite PRIVATE
    KDZ_FREERTOS_PORT="esp-idf"
    KDZ_FREERTOS_HEAP="heap_caps")
