// SPDX-License-Identifier: Apache-2.0
#include "bitbang.hpp"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace kadenz
{

Bitbang::Bitbang(Tap &tap, const std::string &path) : tap_(tap), path_(path)
{
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof name.sun_path) {
        throw std::runtime_error(path + ": no name for a socket: 1 to 107 characters");
    }
    std::memcpy(name.sun_path, path.c_str(), path.size() + 1u);
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    if (listener_ < 0 || bind(listener_, reinterpret_cast<sockaddr *>(&name), sizeof name) != 0 ||
        listen(listener_, 1) != 0) {
        throw std::runtime_error(path + ": " + std::strerror(errno));
    }
}

Bitbang::~Bitbang()
{
    disconnect();
    close(listener_);
    unlink(path_.c_str());
}

bool Bitbang::heard(int timeout_ms)
{
    pollfd one{connected() ? peer_ : listener_, POLLIN, 0};
    if (poll(&one, 1, timeout_ms) <= 0) {
        return false;
    }
    if (!connected()) {
        peer_ = accept(listener_, nullptr, nullptr);
        return false;
    }
    return true;
}

std::string Bitbang::receive()
{
    char piece[4096];
    const ssize_t count = read(peer_, piece, sizeof piece);
    if (count <= 0) {
        disconnect();
        return "";
    }
    return {piece, static_cast<std::size_t>(count)};
}

void Bitbang::perform(char character, std::string &answers)
{
    if (character >= '0' && character <= '7') {
        const unsigned lines = static_cast<unsigned>(character - '0');
        tap_.lines((lines & 4u) != 0, (lines & 2u) != 0, (lines & 1u) != 0);
    } else if (character == 'R') {
        answers.push_back(tap_.tdo() ? '1' : '0');
    } else if (character >= 'r' && character <= 'u') {
        const unsigned resets = static_cast<unsigned>(character - 'r');
        resets_ = (resets & 1u) != 0;
        if ((resets & 2u) != 0) {
            tap_.reset();
        }
    } else if (character == 'Q') {
        disconnect();
    } /* `B` and `b` switch a lamp */
}

void Bitbang::send(const std::string &answers)
{
    for (std::size_t sent = 0; connected() && sent < answers.size();) {
        const ssize_t count = ::send(peer_, &answers[sent], answers.size() - sent, MSG_NOSIGNAL);
        if (count < 0) {
            disconnect();
            return;
        }
        sent += static_cast<std::size_t>(count);
    }
}

void Bitbang::disconnect()
{
    if (peer_ >= 0) {
        close(peer_);
    }
    peer_ = -1;
    resets_ = false;
}

} // namespace kadenz
