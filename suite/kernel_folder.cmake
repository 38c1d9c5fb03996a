# SPDX-License-Identifier: Apache-2.0
# A kernel that a CMake project of its own builds: KDZ_KERNEL_SOURCE is added as a subdirectory and
# its library KDZ_KERNEL_TARGET is linked. That project decides how the kernel is configured and
# compiled; kernels/<k>/kernel.cmake may set variables for it before.
#
# Two files in the build folder tell the lab about it: kadenz-kernel-folders.txt, where the kernel's
# files are, and kadenz-refused.txt, why the project is refused if CMake fails.

# The libraries of a folder and of the folders below it.
function(kdz_libraries_in folder result)
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
    set(found "")
    foreach(target IN LISTS targets)
        get_target_property(type ${target} TYPE)
        if(type MATCHES "^(STATIC|OBJECT)_LIBRARY$")
            list(APPEND found ${target})
        endif()
    endforeach()
    foreach(one IN LISTS below)
        kdz_libraries_in(${one} more)
        list(APPEND found ${more})
    endforeach()
    set(${result} ${found} PARENT_SCOPE)
endfunction()

# Where a library's files are: its own folder, and folders of sources and headers elsewhere.
function(kdz_folders_of library result)
    get_target_property(found ${library} SOURCE_DIR)
    get_target_property(sources ${library} SOURCES)
    get_target_property(include ${library} INCLUDE_DIRECTORIES)
    foreach(source IN LISTS sources)
        get_filename_component(folder "${source}" DIRECTORY)
        list(APPEND include "${folder}")
    endforeach()
    foreach(folder IN LISTS include)
        if(IS_ABSOLUTE "${folder}" AND IS_DIRECTORY "${folder}")
            list(APPEND found "${folder}")
        endif()
    endforeach()
    set(${result} ${found} PARENT_SCOPE)
endfunction()

function(kdz_refuse_kernel reason)
    file(WRITE ${CMAKE_BINARY_DIR}/kadenz-refused.txt "${reason}\n")
endfunction()

function(kdz_link_kernel_folder)
    # Before the project's own flags, which therefore win: options that a project does not set are
    # the suite's.
    set(CMAKE_C_FLAGS "-g -O2 -ffunction-sections -fdata-sections ${CMAKE_C_FLAGS}")
    set(place ${CMAKE_BINARY_DIR}/kernel)
    kdz_refuse_kernel("CMake cannot read its CMakeLists.txt for ${KDZ_BOARD}")
    add_subdirectory(${KDZ_KERNEL_SOURCE} ${place})
    set(type "")
    if(TARGET ${KDZ_KERNEL_TARGET})
        get_target_property(type ${KDZ_KERNEL_TARGET} TYPE)
    endif()
    if(NOT type MATCHES "^(STATIC|OBJECT|INTERFACE)_LIBRARY$")
        kdz_refuse_kernel("its CMakeLists.txt has no library `${KDZ_KERNEL_TARGET}`")
        message(FATAL_ERROR "${KDZ_KERNEL_SOURCE} has no library ${KDZ_KERNEL_TARGET}")
    endif()
    # The rest of this function cannot fail, but generating the project's build can.
    kdz_refuse_kernel("CMake cannot generate the build of its CMakeLists.txt")

    kdz_libraries_in(${KDZ_KERNEL_SOURCE} libraries)
    set(folders ${KDZ_KERNEL_INCLUDE} ${place})
    foreach(library IN LISTS libraries)
        # The C library is the image's; the board's values stay ours.
        target_compile_options(${library} PRIVATE
            $<TARGET_PROPERTY:kadenz-board,INTERFACE_COMPILE_OPTIONS>)
        kdz_folders_of(${library} more)
        list(APPEND folders ${more})
    endforeach()
    list(REMOVE_DUPLICATES folders)
    list(JOIN folders "\n" lines)
    file(WRITE ${CMAKE_BINARY_DIR}/kadenz-kernel-folders.txt "${lines}\n")

    target_include_directories(kadenz-suite SYSTEM PRIVATE ${KDZ_KERNEL_INCLUDE}
        $<TARGET_PROPERTY:${KDZ_KERNEL_TARGET},INTERFACE_INCLUDE_DIRECTORIES>)
    target_link_libraries(kadenz-suite PRIVATE ${KDZ_KERNEL_TARGET})
endfunction()

kdz_link_kernel_folder()
