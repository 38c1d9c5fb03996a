# SPDX-License-Identifier: Apache-2.0
# POSIX threads on Linux. The C library and the kernel are the system's.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
set(KDZ_KERNEL_OWNS_MAIN ON) # the program's arguments say what may be missing
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/barrier.c
    ${CMAKE_CURRENT_LIST_DIR}/callback_timers.c
    ${CMAKE_CURRENT_LIST_DIR}/context.c
    ${CMAKE_CURRENT_LIST_DIR}/context_proc.c
    ${kdz_root}/kernels/shared/c_heap.c
    ${CMAKE_CURRENT_LIST_DIR}/main.c
    ${CMAKE_CURRENT_LIST_DIR}/message_queue.c
    ${CMAKE_CURRENT_LIST_DIR}/notify.c
    ${CMAKE_CURRENT_LIST_DIR}/notify_locks.c
    ${CMAKE_CURRENT_LIST_DIR}/notify_signal.c
    ${CMAKE_CURRENT_LIST_DIR}/notify_sysv.c
    ${CMAKE_CURRENT_LIST_DIR}/pipes.c
    ${CMAKE_CURRENT_LIST_DIR}/policy.c
    ${CMAKE_CURRENT_LIST_DIR}/processes.c
    ${CMAKE_CURRENT_LIST_DIR}/rights.c
    ${CMAKE_CURRENT_LIST_DIR}/rwlock.c
    ${CMAKE_CURRENT_LIST_DIR}/self.c
    ${CMAKE_CURRENT_LIST_DIR}/settings.c
    ${CMAKE_CURRENT_LIST_DIR}/sync.c
    ${CMAKE_CURRENT_LIST_DIR}/threads.c
    ${CMAKE_CURRENT_LIST_DIR}/time.c
    ${CMAKE_CURRENT_LIST_DIR}/timers.c
    ${CMAKE_CURRENT_LIST_DIR}/tracefs.c
    ${CMAKE_CURRENT_LIST_DIR}/unix_socket.c
    ${CMAKE_CURRENT_LIST_DIR}/shared_end.c) # the last of all sources: it closes the section
# What threads of several processes use lies in a section that the program maps shared at its start.
target_compile_definitions(kadenz-suite PRIVATE KDZ_SHARED=__attribute__\(\(section\("kdz_shared"\)\)\))
target_link_libraries(kadenz-suite PRIVATE Threads::Threads)
