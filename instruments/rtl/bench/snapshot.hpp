/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a verilated model in memory: taken, given back, and compared with others.
 */
#ifndef KADENZ_RTL_SNAPSHOT_HPP
#define KADENZ_RTL_SNAPSHOT_HPP

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "verilated_save.h"

namespace kadenz
{

using Bytes = std::vector<std::uint8_t>;

/* Appends what is written to it to `bytes`, with `<<`. */
class Saver final : public VerilatedSerialize
{
  public:
    template <typename Model> void save(Model &model, Bytes &bytes)
    {
        m_cp = m_bufp;
        *this << model;
        bytes.insert(bytes.end(), m_bufp, m_cp);
    }
    void flush() override
    {
        throw std::runtime_error("the state of this core is too large to be copied");
    }
};

/* Reads what a Saver wrote, from `*place` on. */
class Restorer final : public VerilatedDeserialize
{
  public:
    template <typename Model>
    void restore(Model &model, const std::uint8_t *place, std::size_t size)
    {
        std::memcpy(m_bufp, place, size);
        m_cp = m_bufp;
        m_endp = m_bufp + size;
        *this >> model;
    }
    void fill() override
    {
    }
};

/* A verilated model and its adapter's fields, which are plain. */
template <typename Model, typename Fields> class Snapshots
{
  public:
    void save(Model &model, const Fields &fields, Bytes &bytes)
    {
        bytes.resize(sizeof fields);
        std::memcpy(bytes.data(), &fields, sizeof fields);
        saver_.save(model, bytes);
    }
    void restore(Model &model, Fields &fields, const Bytes &bytes)
    {
        std::memcpy(&fields, bytes.data(), sizeof fields);
        restorer_.restore(model, bytes.data() + sizeof fields, bytes.size() - sizeof fields);
    }

  private:
    Saver saver_;
    Restorer restorer_;
};

} // namespace kadenz

#endif
