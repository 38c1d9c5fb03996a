/* SPDX-License-Identifier: Apache-2.0
 *
 * The far end of OpenOCD's adapter driver `remote_bitbang`, on a Unix socket: a character sets the
 * lines of JTAG, asks for TDO, or drives the resets (OpenOCD, doc/manual/jtag/drivers).
 */
#ifndef KADENZ_RTL_BITBANG_HPP
#define KADENZ_RTL_BITBANG_HPP

#include "tap.hpp"

#include <string>

namespace kadenz
{

class Bitbang
{
  public:
    /* Listens at `path`. Throws std::runtime_error. */
    Bitbang(Tap &tap, const std::string &path);
    ~Bitbang();
    Bitbang(const Bitbang &) = delete;
    Bitbang &operator=(const Bitbang &) = delete;

    bool connected() const
    {
        return peer_ >= 0;
    }
    /* Whether a debugger connects or says something within this time; -1 waits without a limit. */
    bool heard(int timeout_ms);
    /* What it said is done, one character after the other: `each` comes behind every one. */
    template <typename Each> void serve(const Each &each)
    {
        const std::string said = receive();
        std::string answers;
        for (const char character : said) {
            perform(character, answers);
            each();
        }
        send(answers);
    }
    /* SRST */
    bool resets() const
    {
        return resets_;
    }

  private:
    std::string receive();
    void perform(char character, std::string &answers);
    void send(const std::string &answers);
    void disconnect();

    Tap &tap_;
    std::string path_;
    int listener_ = -1, peer_ = -1;
    bool resets_ = false;
};

} // namespace kadenz

#endif
