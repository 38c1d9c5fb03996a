# SPDX-License-Identifier: Apache-2.0
# NuttX 12.13 and later, from KDZ_KERNEL_SOURCE: a tree of apache/nuttx. NuttX's own build takes a
# configuration of Kconfig and makes a whole image. Here the files that the port needs are compiled
# with include/nuttx/config.h instead: the scheduler, the heap, message queues, and the parts of
# NuttX's C library that wait. Everything else comes from the image's C library and from library.c.
#
# nuttx-tree has NuttX's headers, nuttx the compiled files.
set(nuttx ${KDZ_KERNEL_SOURCE})

# NuttX's headers ask for <arch/...>, which its build makes of links in the tree; ours are in the
# build folder. Chip and board are the port's.
set(nuttx_links ${CMAKE_BINARY_DIR}/nuttx/include/arch)
file(GLOB headers ${nuttx}/arch/arm/include/*.h)
file(MAKE_DIRECTORY ${nuttx_links})
foreach(entry ${headers} ${nuttx}/arch/arm/include/armv7-m)
    get_filename_component(name ${entry} NAME)
    file(CREATE_LINK ${entry} ${nuttx_links}/${name} SYMBOLIC)
endforeach()

# A release says its version; a clone has the notes of its last release.
set(version "")
if(EXISTS ${nuttx}/.version)
    file(STRINGS ${nuttx}/.version version REGEX "^CONFIG_VERSION_STRING=")
    string(REGEX REPLACE ".*\"(.*)\".*" "\\1" version "${version}")
else()
    file(GLOB notes RELATIVE ${nuttx}/Documentation/ReleaseNotes
        ${nuttx}/Documentation/ReleaseNotes/NuttX-[0-9]*)
    list(SORT notes COMPARE NATURAL)
    if(notes)
        list(GET notes -1 version)
        string(REPLACE "NuttX-" "" version "${version} or later")
    endif()
endif()
if(version STREQUAL "")
    set(version "12.13.0 or later")
endif()

add_library(nuttx-tree INTERFACE)
target_compile_definitions(nuttx-tree INTERFACE
    __NuttX__
    KDZ_NUTTX_VERSION="${version}"
    $<TARGET_PROPERTY:kadenz-board,INTERFACE_COMPILE_DEFINITIONS>)
target_include_directories(nuttx-tree SYSTEM INTERFACE
    ${CMAKE_CURRENT_LIST_DIR}/include
    ${CMAKE_CURRENT_LIST_DIR}/${KDZ_BOARD_ARCH}/include
    ${CMAKE_BINARY_DIR}/nuttx/include
    ${nuttx}/include)

# Compiled as its authors wrote it and optimised as the suite is; its warnings are its authors'.
# The linker takes what the image calls.
function(kdz_nuttx_library library)
    add_library(${library} OBJECT)
    set_target_properties(${library} PROPERTIES C_STANDARD 11)
    target_compile_options(${library} PRIVATE -g -O2 -ffunction-sections -fdata-sections -w)
    target_compile_definitions(${library} PRIVATE $<$<COMPILE_LANGUAGE:ASM>:__ASSEMBLY__> ${ARGN})
    target_link_libraries(${library} PRIVATE nuttx-tree)
    target_sources(nuttx PRIVATE $<TARGET_OBJECTS:${library}>)
endfunction()

function(kdz_nuttx_files library folder)
    foreach(name ${ARGN})
        if(NOT EXISTS ${nuttx}/${folder}/${name})
            message(FATAL_ERROR "the NuttX in '${nuttx}' lacks ${folder}/${name}. "
                "Take a complete tree of a version that docs/kernels/nuttx.md names.")
        endif()
        target_sources(${library} PRIVATE ${nuttx}/${folder}/${name})
    endforeach()
endfunction()

add_library(nuttx STATIC)
set_target_properties(nuttx PROPERTIES LINKER_LANGUAGE C)

# ---- the scheduler and the architecture -------------------------------------------------------
kdz_nuttx_library(nuttx-kernel __KERNEL__)
target_include_directories(nuttx-kernel PRIVATE ${nuttx}/sched
    ${nuttx}/arch/arm/src/common ${nuttx}/arch/arm/src/armv7-m)
kdz_nuttx_files(nuttx-kernel arch/arm/src/armv7-m
    arm_doirq.c arm_exception.S arm_fpuconfig.c arm_initialstate.c arm_schedulesigaction.c
    arm_sigdeliver.c arm_svcall.c arm_trigger_irq.c)
kdz_nuttx_files(nuttx-kernel arch/arm/src/common
    arm_createstack.c arm_exit.c arm_getintstack.c arm_initialize.c arm_modifyreg.c
    arm_releasestack.c arm_stackframe.c arm_usestack.c)
kdz_nuttx_files(nuttx-kernel sched/clock
    clock_gettime.c clock_initialize.c clock_notifier.c clock_realtime2absticks.c
    clock_sched_ticks.c clock_systime_ticks.c clock_systime_timespec.c)
kdz_nuttx_files(nuttx-kernel sched/event
    event_destroy.c event_init.c event_post.c event_wait.c event_waitirq.c)
kdz_nuttx_files(nuttx-kernel sched/group
    group_create.c group_foreachchild.c group_join.c group_killchildren.c group_leave.c
    group_setupidlefiles.c group_setuptaskfiles.c group_signal.c)
kdz_nuttx_files(nuttx-kernel sched/init
    nx_bringup.c nx_start.c)
kdz_nuttx_files(nuttx-kernel sched/instrument
    instrument.c)
kdz_nuttx_files(nuttx-kernel sched/irq
    irq_attach.c irq_dispatch.c irq_initialize.c irq_unexpectedisr.c)
kdz_nuttx_files(nuttx-kernel sched/misc
    reboot_notifier.c)
kdz_nuttx_files(nuttx-kernel sched/mqueue
    mq_initialize.c mq_msgfree.c mq_msgqalloc.c mq_msgqfree.c mq_rcvinternal.c mq_receive.c
    mq_recover.c mq_send.c mq_sndinternal.c mq_waitirq.c)
kdz_nuttx_files(nuttx-kernel sched/pthread
    pthread_cancel.c pthread_completejoin.c pthread_create.c pthread_exit.c pthread_findjoininfo.c
    pthread_join.c pthread_release.c)
kdz_nuttx_files(nuttx-kernel sched/sched
    sched_addreadytorun.c sched_foreach.c sched_get_stackinfo.c sched_get_tls.c sched_getfiles.c
    sched_getparam.c sched_getscheduler.c sched_gettcb.c sched_idletask.c sched_lock.c
    sched_mergepending.c sched_processtick.c sched_releasetcb.c sched_removeblocked.c
    sched_removereadytorun.c sched_reprioritize.c sched_reprioritizertr.c sched_self.c
    sched_setparam.c sched_setpriority.c sched_setscheduler.c sched_switchcontext.c sched_unlock.c
    sched_yield.c)
kdz_nuttx_files(nuttx-kernel sched/semaphore
    sem_clockwait.c sem_destroy.c sem_holder.c sem_initialize.c sem_post.c sem_protect.c
    sem_recover.c sem_reset.c sem_rw.c sem_setprotocol.c sem_tickwait.c sem_timeout.c
    sem_trywait.c sem_wait.c sem_waitirq.c)
kdz_nuttx_files(nuttx-kernel sched/signal
    sig_action.c sig_allocpendingsigaction.c sig_cleanup.c sig_clockwait.c sig_deliver.c
    sig_dispatch.c sig_findaction.c sig_initialize.c sig_lowest.c sig_nanosleep.c sig_pending.c
    sig_procmask.c sig_releasependingsigaction.c sig_releasependingsignal.c
    sig_removependingsignal.c sig_tgkill.c sig_unmaskpendingsignal.c)
kdz_nuttx_files(nuttx-kernel sched/task
    exit.c task_activate.c task_cancelpt.c task_delete.c task_exit.c task_exithook.c
    task_getgroup.c task_gettid.c task_init.c task_join.c task_prctl.c task_recover.c task_setup.c
    task_spawn.c task_spawnparms.c task_start.c task_terminate.c)
kdz_nuttx_files(nuttx-kernel sched/timer
    timer_initialize.c timer_release.c)
kdz_nuttx_files(nuttx-kernel sched/tls
    task_initinfo.c task_uninitinfo.c tls_initinfo.c)
kdz_nuttx_files(nuttx-kernel sched/wdog
    wd_cancel.c wd_initialize.c wd_start.c)

# ---- names of message queues ------------------------------------------------------------------
kdz_nuttx_library(nuttx-files __KERNEL__)
target_include_directories(nuttx-files PRIVATE ${nuttx}/fs ${nuttx}/sched)
kdz_nuttx_files(nuttx-files fs
    fs_initialize.c)
kdz_nuttx_files(nuttx-files fs/inode
    fs_files.c fs_inode.c fs_inodeaddref.c fs_inodefind.c fs_inodefree.c fs_inodegetpath.c
    fs_inoderelease.c fs_inoderemove.c fs_inodereserve.c fs_inodesearch.c)
kdz_nuttx_files(nuttx-files fs/mqueue
    mq_close.c mq_open.c mq_unlink.c)
kdz_nuttx_files(nuttx-files fs/vfs
    fs_close.c fs_dir.c fs_dup.c fs_fsync.c fs_open.c)

# ---- the C library and the heap: as an application sees them ----------------------------------
kdz_nuttx_library(nuttx-library)
target_include_directories(nuttx-library PRIVATE ${nuttx}/mm ${nuttx}/libs/libc ${nuttx}/sched)
kdz_nuttx_files(nuttx-library libs/libc/errno
    lib_errno.c)
kdz_nuttx_files(nuttx-library libs/libc/machine
    arch_atomic.c)
kdz_nuttx_files(nuttx-library libs/libc/misc
    lib_cxx_initialize.c lib_mutex.c lib_umask.c)
kdz_nuttx_files(nuttx-library libs/libc/pthread
    pthread_attr_init.c pthread_attr_setinheritsched.c pthread_attr_setschedparam.c
    pthread_attr_setschedpolicy.c pthread_attr_setstacksize.c pthread_barrierdestroy.c
    pthread_barrierinit.c pthread_barrierwait.c pthread_condbroadcast.c pthread_condclockwait.c
    pthread_conddestroy.c pthread_condinit.c pthread_condsignal.c pthread_condtimedwait.c
    pthread_condwait.c pthread_create.c pthread_exit.c pthread_kill.c pthread_mutex.c
    pthread_mutex_consistent.c pthread_mutex_destroy.c pthread_mutex_inconsistent.c
    pthread_mutex_init.c pthread_mutex_lock.c pthread_mutex_timedlock.c pthread_mutex_trylock.c
    pthread_mutex_unlock.c pthread_mutexattr_init.c pthread_mutexattr_setprioceiling.c
    pthread_mutexattr_setprotocol.c pthread_mutexattr_setrobust.c pthread_rwlock.c
    pthread_rwlock_rdlock.c pthread_rwlock_wrlock.c pthread_self.c pthread_setname_np.c)
kdz_nuttx_files(nuttx-library libs/libc/queue
    queue.c)
kdz_nuttx_files(nuttx-library libs/libc/sched
    sched_getprioritymax.c sched_getprioritymin.c task_gettid.c task_setcancelstate.c
    task_startup.c)
kdz_nuttx_files(nuttx-library libs/libc/semaphore
    sem_destroy.c sem_getvalue.c sem_init.c sem_post.c sem_setprioceiling.c sem_trywait.c
    sem_wait.c)
kdz_nuttx_files(nuttx-library libs/libc/signal
    sig_addset.c sig_andset.c sig_delset.c sig_emptyset.c sig_fillset.c sig_isemptyset.c
    sig_ismember.c sig_nandset.c sig_orset.c sig_xorset.c)
kdz_nuttx_files(nuttx-library libs/libc/spawn
    lib_psa_destroy.c lib_psa_init.c)
kdz_nuttx_files(nuttx-library libs/libc/time
    lib_calendar2utc.c lib_daysbeforemonth.c lib_isleapyear.c)
kdz_nuttx_files(nuttx-library libs/libc/tls
    task_getinfo.c tls_getinfo.c)
kdz_nuttx_files(nuttx-library mm/map
    mm_map.c)
kdz_nuttx_files(nuttx-library mm/mm_heap
    mm_free.c mm_initialize.c mm_lock.c mm_malloc.c mm_malloc_size.c mm_zalloc.c)
kdz_nuttx_files(nuttx-library mm/umm_heap
    umm_free.c umm_globals.c umm_initialize.c umm_malloc.c umm_zalloc.c)
