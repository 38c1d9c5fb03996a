/* SPDX-License-Identifier: Apache-2.0
 *
 * The few instructions of RV32I that a hart executes in debug mode.
 */
#ifndef KADENZ_RTL_INSTRUCTIONS_HPP
#define KADENZ_RTL_INSTRUCTIONS_HPP

#include <cstdint>

namespace kadenz::instruction
{

constexpr std::uint32_t NOP = 0x00000013u, EBREAK = 0x00100073u, DRET = 0x7b200073u;

/* sw rs, offset(zero) */
constexpr std::uint32_t store(std::uint32_t source, std::uint32_t offset)
{
    return (offset >> 5u) << 25u | source << 20u | 2u << 12u | (offset & 0x1fu) << 7u | 0x23u;
}

/* lw rd, offset(zero) */
constexpr std::uint32_t load(std::uint32_t target, std::uint32_t offset)
{
    return offset << 20u | 2u << 12u | target << 7u | 0x03u;
}

/* csrr rd, csr */
constexpr std::uint32_t read_csr(std::uint32_t target, std::uint32_t csr)
{
    return csr << 20u | 2u << 12u | target << 7u | 0x73u;
}

/* csrw csr, rs */
constexpr std::uint32_t write_csr(std::uint32_t csr, std::uint32_t source)
{
    return csr << 20u | source << 15u | 1u << 12u | 0x73u;
}

/* j `distance` bytes, an even number below 1 MiB in both directions */
constexpr std::uint32_t jump(std::int32_t distance)
{
    const auto bits = static_cast<std::uint32_t>(distance);
    return (bits >> 20u & 1u) << 31u | (bits >> 1u & 0x3ffu) << 21u | (bits >> 11u & 1u) << 20u |
           (bits >> 12u & 0xffu) << 12u | 0x6fu;
}

} // namespace kadenz::instruction

#endif
