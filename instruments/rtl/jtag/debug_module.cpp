// SPDX-License-Identifier: Apache-2.0
#include "debug_module.hpp"

#include "instructions.hpp"

namespace kadenz
{
namespace
{

/* ---- the hart's window: addresses that an offset from register zero reaches ---------------------
 */
constexpr std::uint32_t IS_PARKED = 0x100, HAS_TAKEN = 0x104, IS_LEAVING = 0x108,
                        HAS_FAILED = 0x10c;
constexpr std::uint32_t DATA = 0x380, ASIDE = 0x390;
/* What the hart fetches. The first and the third are parameters of Ibex: cores/ibex/kdz_core.sv. */
constexpr std::uint32_t ENTRY = 0x800, LOOP = 0x804, ON_EXCEPTION = 0x810, LEAVE = 0x820;
constexpr std::uint32_t CODE = 0x840, BUFFER = 0x880;
constexpr std::uint32_t WINDOW = 0x1000;
constexpr std::uint32_t S0 = 8;

/* ---- registers of the module, and their bits ---------------------------------------------------
 */
constexpr std::uint32_t DATA0 = 0x04, DMCONTROL = 0x10, DMSTATUS = 0x11, HARTINFO = 0x12;
constexpr std::uint32_t ABSTRACTCS = 0x16, COMMAND = 0x17, ABSTRACTAUTO = 0x18, PROGBUF0 = 0x20;
constexpr std::uint32_t SBCS = 0x38, SBADDRESS0 = 0x39, SBDATA0 = 0x3c, HALTSUM0 = 0x40;

constexpr std::uint32_t HALTREQ = 1u << 31u, RESUMEREQ = 1u << 30u, ACKHAVERESET = 1u << 28u;
constexpr std::uint32_t SETRESETHALTREQ = 1u << 3u, CLRRESETHALTREQ = 1u << 2u;
constexpr std::uint32_t NDMRESET = 1u << 1u, DMACTIVE = 1u;

/* dmstatus: version 0.13, no password, resethaltreq exists, the buffer ends with an ebreak. */
constexpr std::uint32_t FIXED_STATUS = 2u | 1u << 5u | 1u << 7u | 1u << 22u;
constexpr std::uint32_t HALTED = 3u << 8u, RUNNING = 3u << 10u, UNAVAILABLE = 3u << 12u;
constexpr std::uint32_t RESUMEACK = 3u << 16u, HAVERESET = 3u << 18u;

/* command: access to a register */
constexpr std::uint32_t POSTEXEC = 1u << 18u, TRANSFER = 1u << 17u, WRITE = 1u << 16u;
constexpr std::uint32_t AUTOMATIC = 0x00ff0003u; /* abstractauto: the words that exist */
constexpr std::uint32_t SIZE_32 = 2u, FIRST_GPR = 0x1000u, GPRS = 32u;

/* sbcs: version 1, addresses of 32 bits, accesses of 8, 16 and 32 */
constexpr std::uint32_t SB_FIXED = 1u << 29u | 32u << 5u | 7u;
constexpr std::uint32_t SB_READ_ON_ADDRESS = 1u << 20u, SB_INCREMENT = 1u << 16u;
constexpr std::uint32_t SB_READ_ON_DATA = 1u << 15u, SB_ERROR = 7u << 12u;
constexpr std::uint32_t SB_WRITABLE =
    SB_READ_ON_ADDRESS | 7u << 17u | SB_INCREMENT | SB_READ_ON_DATA;
constexpr std::uint32_t SB_BAD_ADDRESS = 2u << 12u, SB_BAD_ALIGNMENT = 3u << 12u;
constexpr std::uint32_t SB_BAD_SIZE = 4u << 12u;

constexpr std::int32_t distance(std::uint32_t from, std::uint32_t to)
{
    return static_cast<std::int32_t>(to - from);
}

} // namespace

bool DebugModule::wants_halt() const
{
    return !resets_ && (halt_request_ || (halt_after_reset_ && halt_at_reset_));
}

void DebugModule::was_reset()
{
    reset_seen_ = false;
    halt_at_reset_ = true;
    inside_ = halted_ = resumes_ = false;
    command_ = Command::none;
}

/* ---- registers -------------------------------------------------------------------------------
 */
/* A word of data or of the program buffer; nullptr for other registers. */
std::uint32_t *DebugModule::argument(std::uint32_t address)
{
    if (address - DATA0 < DATA_WORDS) {
        return &data_[address - DATA0];
    }
    return address - PROGBUF0 < BUFFER_WORDS ? &buffer_[address - PROGBUF0] : nullptr;
}

/* After an access to such a word: some repeat the last command. */
void DebugModule::accessed(std::uint32_t address)
{
    const std::uint32_t bit = address < PROGBUF0 ? address - DATA0 : address - PROGBUF0 + 16u;
    if (busy()) {
        fail(BUSY);
    } else if ((automatic_ >> bit & 1u) != 0) {
        begin(last_command_);
    }
}

std::uint32_t DebugModule::read(std::uint32_t address)
{
    if (const std::uint32_t *const word = argument(address)) {
        const std::uint32_t value = *word;
        accessed(address);
        return value;
    }
    switch (address) {
    case DMCONTROL:
        return (resets_ ? NDMRESET : 0u) | (active_ ? DMACTIVE : 0u);
    case DMSTATUS:
        return status();
    case HARTINFO: /* two scratch registers; data is in the hart's memory */
        return 2u << 20u | 1u << 16u | DATA_WORDS << 12u | DATA;
    case ABSTRACTCS:
        return BUFFER_WORDS << 24u | (busy() ? 1u << 12u : 0u) | error_ << 8u | DATA_WORDS;
    case ABSTRACTAUTO:
        return automatic_;
    case SBCS:
        return SB_FIXED | bus_control_;
    case SBADDRESS0:
        return bus_address_;
    case SBDATA0: {
        const std::uint32_t value = bus_data_;
        if ((bus_control_ & SB_READ_ON_DATA) != 0) {
            use_bus(false);
        }
        return value;
    }
    case HALTSUM0:
        return halted_ ? 1u : 0u;
    default:
        return 0;
    }
}

void DebugModule::write(std::uint32_t address, std::uint32_t value)
{
    if (address == DMCONTROL) {
        control(value);
        return;
    }
    if (!active_) {
        return;
    }
    if (std::uint32_t *const word = argument(address)) {
        if (!busy()) {
            *word = value;
        }
        accessed(address);
        return;
    }
    switch (address) {
    case ABSTRACTCS:
        if (busy()) {
            fail(BUSY);
        } else {
            error_ &= ~(value >> 8u & 7u); /* a one clears its bit */
        }
        break;
    case COMMAND:
        if (busy()) {
            fail(BUSY);
        } else {
            begin(value);
        }
        break;
    case ABSTRACTAUTO:
        automatic_ = value & AUTOMATIC;
        break;
    case SBCS:
        bus_control_ = (value & SB_WRITABLE) | (bus_control_ & SB_ERROR & ~value);
        break;
    case SBADDRESS0:
        bus_address_ = value;
        if ((bus_control_ & SB_READ_ON_ADDRESS) != 0) {
            use_bus(false);
        }
        break;
    case SBDATA0:
        bus_data_ = value;
        use_bus(true);
        break;
    default:
        break;
    }
}

std::uint32_t DebugModule::status() const
{
    std::uint32_t value = FIXED_STATUS | (halted_ ? HALTED : RUNNING);
    if (resets_) {
        value = FIXED_STATUS | UNAVAILABLE;
    }
    return value | (resumed_ ? RESUMEACK : 0u) | (reset_seen_ ? 0u : HAVERESET);
}

void DebugModule::control(std::uint32_t value)
{
    active_ = (value & DMACTIVE) != 0;
    if (!active_) { /* the module itself is reset */
        halt_request_ = halt_after_reset_ = resets_ = resumes_ = false;
        automatic_ = bus_control_ = 0;
        error_ = NONE;
        return;
    }
    if ((value & ACKHAVERESET) != 0) {
        reset_seen_ = true;
    }
    halt_after_reset_ =
        (value & SETRESETHALTREQ) != 0 || (halt_after_reset_ && (value & CLRRESETHALTREQ) == 0);
    halt_request_ = (value & HALTREQ) != 0;
    resets_ = (value & NDMRESET) != 0;
    if ((value & RESUMEREQ) != 0 && !halt_request_) {
        resumes_ = halted_;
        resumed_ = !halted_;
    }
}

/* ---- abstract commands ----------------------------------------------------------------------- */
void DebugModule::begin(std::uint32_t command)
{
    if (error_ != NONE) {
        return;
    }
    last_command_ = command;
    if (!halted_) {
        fail(HALT_RESUME);
    } else if (!translate(command)) {
        fail(NOT_SUPPORTED);
    } else {
        command_ = Command::given;
    }
}

void DebugModule::fail(Error error)
{
    error_ = error_ == NONE ? static_cast<std::uint32_t>(error) : error_;
}

/* The code of a command; false for one that does not exist here. */
bool DebugModule::translate(std::uint32_t command)
{
    using namespace instruction;
    const std::uint32_t type = command >> 24u, size = command >> 20u & 7u;
    const std::uint32_t number = command & 0xffffu;
    const bool write = (command & WRITE) != 0;

    saves_ = false;
    code_ = {store(0, HAS_TAKEN)};
    if (type != 0) {
        return false;
    }
    if ((command & TRANSFER) != 0) {
        if (size != SIZE_32) {
            return false;
        }
        if (number - FIRST_GPR < GPRS) {
            const std::uint32_t gpr = number - FIRST_GPR;
            code_.push_back(write ? load(gpr, DATA) : store(gpr, DATA));
        } else if (number < FIRST_GPR) {
            saves_ = true;
            code_.push_back(store(S0, ASIDE));
            code_.push_back(write ? load(S0, DATA) : read_csr(S0, number));
            code_.push_back(write ? write_csr(number, S0) : store(S0, DATA));
            code_.push_back(load(S0, ASIDE));
        } else {
            return false;
        }
    }
    const auto end = CODE + 4u * static_cast<std::uint32_t>(code_.size());
    code_.push_back((command & POSTEXEC) != 0 ? jump(distance(end, BUFFER)) : EBREAK);
    return true;
}

/* ---- the hart --------------------------------------------------------------------------------
 */
bool DebugModule::access(const Request &request, Answer &answer)
{
    const std::uint32_t offset = request.address & ~3u;
    if (offset == ENTRY) {
        inside_ = true; /* before that, a stray pointer of the image meets no memory here */
    }
    if (offset >= WINDOW || !inside_) {
        return false;
    }
    if (offset >= ENTRY) {
        answer.data = fetched(offset);
        return true;
    }
    std::uint32_t nothing = 0;
    std::uint32_t &word = offset - DATA < 4u * DATA_WORDS ? data_[(offset - DATA) / 4u]
                          : offset == ASIDE               ? aside_
                                                          : nothing;
    answer.data = word;
    if (request.write) {
        word = request.data;
        told(offset);
    }
    return true;
}

/* What the hart executes. LOOP is a jump to itself until there is something to do. The hart reads
 * ahead, so what is done once is marked by a store at its beginning, and is not offered again. */
std::uint32_t DebugModule::fetched(std::uint32_t offset) const
{
    using namespace instruction;
    switch (offset) {
    case ENTRY:
        return store(0, IS_PARKED);
    case LOOP:
        if (resumes_ && !busy()) {
            return jump(distance(LOOP, LEAVE));
        }
        return jump(command_ == Command::given ? distance(LOOP, CODE) : 0);
    case ON_EXCEPTION:
        return store(0, HAS_FAILED);
    case ON_EXCEPTION + 4u: /* an access to a register must not cost the hart its s0 */
        return saves_ ? load(S0, ASIDE) : NOP;
    case ON_EXCEPTION + 8u:
        return jump(distance(ON_EXCEPTION + 8u, ENTRY));
    case LEAVE:
        return store(0, IS_LEAVING);
    case LEAVE + 4u:
        return DRET;
    default:
        break;
    }
    if (offset >= CODE && (offset - CODE) / 4u < code_.size()) {
        return code_[(offset - CODE) / 4u];
    }
    if (offset >= BUFFER && (offset - BUFFER) / 4u < BUFFER_WORDS) {
        return buffer_[(offset - BUFFER) / 4u];
    }
    return EBREAK;
}

void DebugModule::told(std::uint32_t offset)
{
    switch (offset) {
    case IS_PARKED:
        halted_ = true;
        halt_at_reset_ = false;
        if (command_ == Command::taken) {
            command_ = Command::none;
        }
        break;
    case HAS_TAKEN:
        command_ = Command::taken;
        break;
    case HAS_FAILED:
        fail(EXCEPTION);
        break;
    case IS_LEAVING:
        inside_ = halted_ = resumes_ = false;
        resumed_ = true;
        break;
    default:
        break;
    }
}

/* ---- the system bus --------------------------------------------------------------------------
 */
void DebugModule::use_bus(bool write)
{
    const std::uint32_t bytes = 1u << (bus_control_ >> 17u & 7u);
    if ((bus_control_ & SB_ERROR) != 0) {
        return;
    }
    if (bytes > 4u) {
        bus_control_ |= SB_BAD_SIZE;
        return;
    }
    if (bus_address_ % bytes != 0) {
        bus_control_ |= SB_BAD_ALIGNMENT;
        return;
    }
    const std::uint32_t first = bus_address_ & 3u;
    Request request;
    Answer answer;
    request.valid = true;
    request.write = write;
    request.address = bus_address_;
    request.lanes = static_cast<std::uint8_t>(((1u << bytes) - 1u) << first);
    request.data = bus_data_ << (8u * first);
    machine_.perform(request, answer);
    if (answer.error) {
        bus_control_ |= SB_BAD_ADDRESS;
        return;
    }
    if (!write) {
        const std::uint32_t mask = bytes == 4u ? UINT32_MAX : (1u << (8u * bytes)) - 1u;
        bus_data_ = answer.data >> (8u * first) & mask;
    }
    if ((bus_control_ & SB_INCREMENT) != 0) {
        bus_address_ += bytes;
    }
}

} // namespace kadenz
