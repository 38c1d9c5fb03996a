/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of a command line: `--name value`, and the machine that they describe.
 */
#ifndef KADENZ_RTL_ARGUMENTS_HPP
#define KADENZ_RTL_ARGUMENTS_HPP

#include "machine.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace kadenz
{

using Arguments = std::multimap<std::string, std::string>;

/* All of them throw std::runtime_error or std::invalid_argument with the word that is wrong. */
Arguments parse(int count, char **words);
std::uint64_t number(const std::string &text);
std::uint64_t option(const Arguments &arguments, const char *name, std::uint64_t otherwise);
std::string text(const Arguments &arguments, const char *name); /* "" without it */
Machine machine_of(const Arguments &arguments, unsigned cores);

} // namespace kadenz

#endif
