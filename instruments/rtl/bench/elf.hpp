/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KADENZ_RTL_ELF_HPP
#define KADENZ_RTL_ELF_HPP

#include "machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kadenz
{

/* The bytes of a file. Throws std::runtime_error with its name. */
std::vector<std::uint8_t> read_file(const std::string &name);

/* Loads the segments of a 32-bit little-endian RISC-V ELF to their physical addresses; returns its
 * entry. Throws std::runtime_error for another file, or a segment outside memory. */
std::uint32_t load_elf(const std::string &name, Machine &machine);

} // namespace kadenz

#endif
