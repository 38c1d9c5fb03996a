// SPDX-License-Identifier: Apache-2.0
//
// A verilated core as a board with a JTAG connector: its memory is empty, and a debugger loads it.
// Words of this program go to standard error.
//
//   jtag --socket PATH --idcode N --entry A --memory rom:0x80000000:0x40000:0 ...
//        [--timer-divider N] [--uart A] [--clint A]
//
// Time: the core's clock is far quicker than JTAG's. The core executes a request of the
// debugger before its next bit. While no debugger is connected, and while the core waits in debug
// mode, the clock stands still; mtime stands still in all of debug mode, as timers of many chips
// can be set to.
#include "arguments.hpp"
#include "bitbang.hpp"
#include "debug_module.hpp"
#include "simulation.hpp"
#include "tap.hpp"

#include <exception>
#include <iostream>

namespace kadenz
{
namespace
{

constexpr int EXIT_ARGUMENT = 125;
constexpr int RUN_CYCLES = 1024;        /* between looks at the socket: about a millisecond */
constexpr int PATIENCE_CYCLES = 100000; /* for a core that does not do what the debugger asked */

class Board
{
  public:
    explicit Board(const Arguments &arguments)
        : simulation_(machine_of(arguments, 1), 1),
          entry_(static_cast<std::uint32_t>(option(arguments, "entry", 0))),
          module_(simulation_.machine()),
          tap_(module_, static_cast<std::uint32_t>(option(arguments, "idcode", 0))),
          bitbang_(tap_, text(arguments, "socket"))
    {
        simulation_.reset(entry_);
    }

    [[noreturn]] void run()
    {
        for (;;) {
            const bool runs = bitbang_.connected() && !in_reset_ && !module_.halted();
            if (bitbang_.heard(runs ? 0 : -1)) {
                bitbang_.serve([this] { follow(); });
            }
            for (int i = 0; runs && i < RUN_CYCLES && !module_.halted(); i++) {
                cycle();
            }
        }
    }

  private:
    /* The core does what the lines ask of it. */
    void follow()
    {
        const bool resets = module_.resets() || bitbang_.resets();
        if (in_reset_ && !resets) {
            simulation_.machine().reset();
            simulation_.reset(entry_);
            module_.was_reset();
        }
        in_reset_ = resets;
        for (int i = 0; !in_reset_ && module_.waits() && i < PATIENCE_CYCLES; i++) {
            cycle();
        }
    }

    void cycle()
    {
        const bool held = module_.halted();
        simulation_.core(0).debug_request(module_.wants_halt());
        simulation_.step();
        if (held) {
            simulation_.machine().hold();
        }
    }

    Simulation simulation_;
    std::uint32_t entry_;
    DebugModule module_;
    Tap tap_;
    Bitbang bitbang_;
    bool in_reset_ = false;
};

} // namespace
} // namespace kadenz

int main(int count, char **words)
{
    try {
        kadenz::Board(kadenz::parse(count, words)).run();
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return kadenz::EXIT_ARGUMENT;
    }
}
