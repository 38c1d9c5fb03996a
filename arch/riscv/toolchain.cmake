# SPDX-License-Identifier: Apache-2.0
# Cross compiler for 32-bit RISC-V: Debian's gcc-riscv64-unknown-elf with picolibc.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv32)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_ASM_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_OBJCOPY riscv64-unknown-elf-objcopy)
# CMake's compiler check links a program; a bare-metal one needs our linker script for that.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# RV32IMAC is the FE310-G002 (its manual, chapter 3). By the ISA text of 2.2 "I" includes the CSR
# instructions; naming Zicsr, as newer texts want, makes GCC 12 miss picolibc's 32-bit libraries.
set(KDZ_ISA rv32imac CACHE STRING "instruction set, or a subset: rv32ima has no compressed instructions")
set(KDZ_ARCH_FLAGS "-march=${KDZ_ISA} -misa-spec=2.2 -mabi=ilp32 -mcmodel=medany")
set(CMAKE_C_FLAGS_INIT "${KDZ_ARCH_FLAGS}")
set(CMAKE_ASM_FLAGS_INIT "${KDZ_ARCH_FLAGS}")
