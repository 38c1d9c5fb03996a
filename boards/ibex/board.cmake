# SPDX-License-Identifier: Apache-2.0
# lowRISC's Ibex, in the address map of QEMU's machine `virt`.
include(${kdz_root}/boards/softcore/softcore.cmake)
set(KDZ_BOARD_CLINT_ADDRESS 0x02000000)
set(KDZ_BOARD_TRAPS vectored) # Ibex has no direct mode of mtvec
kdz_softcore(ibex 0x10000000 0x00100000)
