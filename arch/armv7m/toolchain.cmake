# SPDX-License-Identifier: Apache-2.0
# Cross compiler for the Cortex-M4F: Debian's gcc-arm-none-eabi with picolibc.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR armv7e-m)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
set(CMAKE_OBJCOPY arm-none-eabi-objcopy)
# CMake's compiler check links a program; a bare-metal one needs our linker script for that.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(KDZ_ARCH_FLAGS
    "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard")
set(CMAKE_C_FLAGS_INIT "${KDZ_ARCH_FLAGS}")
set(CMAKE_ASM_FLAGS_INIT "${KDZ_ARCH_FLAGS}")
