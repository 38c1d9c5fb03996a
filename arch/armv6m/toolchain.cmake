# SPDX-License-Identifier: Apache-2.0
# Cross compiler for the Cortex-M0+, whose instructions are those of the M0: Debian's
# gcc-arm-none-eabi with picolibc.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR armv6-m)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
set(CMAKE_OBJCOPY arm-none-eabi-objcopy)
# CMake's compiler check links a program; a bare-metal one needs our linker script for that.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# Without the option, GCC reads assembler in C files in the older, divided syntax on Armv6-M.
set(KDZ_ARCH_FLAGS "-mcpu=cortex-m0plus -mthumb -mfloat-abi=soft")
set(CMAKE_C_FLAGS_INIT "${KDZ_ARCH_FLAGS} -masm-syntax-unified")
set(CMAKE_ASM_FLAGS_INIT "${KDZ_ARCH_FLAGS}")
