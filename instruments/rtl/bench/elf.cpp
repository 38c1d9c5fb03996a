// SPDX-License-Identifier: Apache-2.0
#include "elf.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace kadenz
{
namespace
{

template <typename T> T at(const std::vector<std::uint8_t> &file, std::size_t offset)
{
    T value;
    if (offset > file.size() || file.size() - offset < sizeof value) {
        throw std::runtime_error("the ELF file is cut");
    }
    std::memcpy(&value, &file[offset], sizeof value);
    return value;
}

} // namespace

std::vector<std::uint8_t> read_file(const std::string &name)
{
    std::ifstream file(name, std::ios::binary);
    if (!file) {
        throw std::runtime_error(name + ": cannot be read");
    }
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::uint32_t load_elf(const std::string &name, Machine &machine)
{
    const std::vector<std::uint8_t> file = read_file(name);
    const auto header = at<Elf32_Ehdr>(file, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS32 || header.e_machine != EM_RISCV) {
        throw std::runtime_error(name + ": not a 32-bit RISC-V ELF file");
    }
    for (unsigned i = 0; i < header.e_phnum; i++) {
        const auto segment = at<Elf32_Phdr>(file, header.e_phoff + i * header.e_phentsize);
        if (segment.p_type != PT_LOAD || segment.p_filesz == 0) {
            continue;
        }
        Memory *memory = machine.memory_at(segment.p_paddr, segment.p_filesz);
        if (memory == nullptr) {
            std::ostringstream text;
            text << name << ": a segment of " << segment.p_filesz << " bytes at 0x" << std::hex
                 << segment.p_paddr << " is outside the memory of this machine";
            throw std::runtime_error(text.str());
        }
        if (segment.p_offset > file.size() || segment.p_filesz > file.size() - segment.p_offset) {
            throw std::runtime_error(name + ": the ELF file is cut");
        }
        std::copy_n(file.begin() + segment.p_offset, segment.p_filesz,
                    memory->bytes.begin() + (segment.p_paddr - memory->start));
    }
    return header.e_entry;
}

} // namespace kadenz
