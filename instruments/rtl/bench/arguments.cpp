// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <sstream>
#include <stdexcept>

namespace kadenz
{

Arguments parse(int count, char **words)
{
    Arguments found;
    for (int i = 1; i < count; i += 2) {
        if (std::string(words[i]).rfind("--", 0) != 0 || i + 1 == count) {
            throw std::runtime_error(std::string(words[i]) + ": expected --name value");
        }
        found.emplace(words[i] + 2, words[i + 1]);
    }
    return found;
}

std::uint64_t number(const std::string &text)
{
    std::size_t end = 0;
    const std::uint64_t value = std::stoull(text, &end, 0);
    if (end != text.size()) {
        throw std::runtime_error(text + ": not a number");
    }
    return value;
}

std::uint64_t option(const Arguments &arguments, const char *name, std::uint64_t otherwise)
{
    const auto found = arguments.find(name);
    return found == arguments.end() ? otherwise : number(found->second);
}

std::string text(const Arguments &arguments, const char *name)
{
    const auto found = arguments.find(name);
    return found == arguments.end() ? "" : found->second;
}

namespace
{

/* NAME:START:BYTES:WAIT, and `:shared` where all buses share one port */
Memory memory_of(const std::string &words)
{
    std::istringstream stream(words);
    std::string part[5];
    for (std::string &one : part) {
        std::getline(stream, one, ':');
    }
    Memory memory;
    memory.name = part[0];
    memory.start = static_cast<std::uint32_t>(number(part[1]));
    memory.bytes.resize(number(part[2]));
    memory.wait = static_cast<std::uint32_t>(number(part[3]));
    memory.shared = part[4] == "shared";
    return memory;
}

} // namespace

Machine machine_of(const Arguments &arguments, unsigned cores)
{
    std::vector<Memory> memories;
    const auto range = arguments.equal_range("memory");
    for (auto one = range.first; one != range.second; ++one) {
        memories.push_back(memory_of(one->second));
    }
    Map map;
    map.uart = static_cast<std::uint32_t>(option(arguments, "uart", map.uart));
    map.clint = static_cast<std::uint32_t>(option(arguments, "clint", map.clint));
    map.finisher = static_cast<std::uint32_t>(option(arguments, "finisher", map.finisher));
    map.locks = static_cast<std::uint32_t>(option(arguments, "locks", map.locks));
    const auto divider = static_cast<unsigned>(option(arguments, "timer-divider", 10));
    return {std::move(memories), map, cores, divider};
}

} // namespace kadenz
