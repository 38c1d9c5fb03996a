// SPDX-License-Identifier: Apache-2.0
//! Numbers of the standards in words: AL states and codes (ETG.1000.6), error codes and registers (CiA 301, CiA 402).

use std::fmt;

use ethercrab::AlStatusCode;

/// The code of an AL status could not be read.
pub const CODE_UNREAD: i64 = 1 << 24;

/// An AL status in its lowest byte, its code above.
pub(super) fn al(f: &mut fmt::Formatter<'_>, packed: i64) -> fmt::Result {
    let status = packed & 0xFF;
    let state = match status & 0x0F {
        1 => "INIT",
        2 => "PRE-OP",
        3 => "BOOT",
        4 => "SAFE-OP",
        8 => "OP",
        _ => "no state of the standard",
    };
    let error = if status & 0x10 == 0 { "" } else { " with an error" };
    write!(f, "{status:#06x} ({state}{error})")?;
    match packed >> 8 & 0xFFFF {
        _ if packed & CODE_UNREAD != 0 => f.write_str(", its AL status code could not be read"),
        0 => Ok(()),
        code => write!(f, ", AL status code {}", AlStatusCode::from(code as u16)),
    }
}

/// Error codes: exact ones of CiA 402 first, then classes by their upper digits (CiA 301, table 26).
const ERRORS: &[(u16, u16, &str)] = &[
    (0x0000, 0xFFFF, "no error, or gone"),
    (0x2310, 0xFFFF, "continuous over-current"),
    (0x2320, 0xFFFF, "short circuit or earth leakage"),
    (0x3110, 0xFFFF, "mains over-voltage"),
    (0x3120, 0xFFFF, "mains under-voltage"),
    (0x3210, 0xFFFF, "DC link over-voltage"),
    (0x3220, 0xFFFF, "DC link under-voltage"),
    (0x4210, 0xFFFF, "over-temperature of the device"),
    (0x4310, 0xFFFF, "over-temperature of the drive"),
    (0x7121, 0xFFFF, "motor blocked"),
    (0x7305, 0xFFFF, "incremental sensor 1"),
    (0x7500, 0xFFFF, "communication"),
    (0x8130, 0xFFFF, "life guard or heartbeat"),
    (0x8400, 0xFFFF, "velocity speed controller"),
    (0x8500, 0xFFFF, "position controller"),
    (0x8611, 0xFFFF, "following error"),
    (0x8612, 0xFFFF, "reference limit"),
    (0x8700, 0xFFFF, "sync controller"),
    (0x2000, 0xF000, "current"),
    (0x3000, 0xF000, "voltage"),
    (0x4000, 0xF000, "temperature"),
    (0x5000, 0xF000, "device hardware"),
    (0x6000, 0xF000, "device software"),
    (0x7000, 0xF000, "additional modules"),
    (0x8100, 0xFF00, "communication"),
    (0x8200, 0xFF00, "protocol"),
    (0x8000, 0xF000, "monitoring"),
    (0x9000, 0xF000, "external error"),
    (0xF000, 0xFF00, "additional functions"),
    (0xFF00, 0xFF00, "the maker's own"),
    (0x1000, 0xF000, "generic"),
];

/// Bits of the error register (object 0x1001).
const REGISTER: [&str; 8] =
    ["generic", "current", "voltage", "temperature", "communication", "device profile", "reserved", "the maker's own"];

/// An error code of object 0x603F or of an emergency.
pub(super) fn error_code(f: &mut fmt::Formatter<'_>, code: u16) -> fmt::Result {
    let words = ERRORS.iter().find(|(value, mask, _)| code & mask == *value).map_or("no code of the standard", |e| e.2);
    write!(f, "{code:#06x} ({words})")
}

/// Eight bytes of an emergency, the first lowest.
pub(super) fn emergency(f: &mut fmt::Formatter<'_>, packed: i64) -> fmt::Result {
    let [low, high, register, maker @ ..] = packed.to_le_bytes();
    error_code(f, u16::from_le_bytes([low, high]))?;
    write!(f, ", error register {register:#04x}")?;
    let mut before = " (";
    for (_, words) in REGISTER.iter().enumerate().filter(|(bit, _)| register >> bit & 1 != 0) {
        write!(f, "{before}{words}")?;
        before = ", ";
    }
    f.write_str(if register == 0 { "" } else { ")" })?;
    if maker != [0; 5] {
        f.write_str(", maker's data 0x")?;
        maker.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
    }
    Ok(())
}

/// A source address, the first byte highest; with dashes, for a colon ends what an event says.
pub(super) fn mac(f: &mut fmt::Formatter<'_>, address: i64) -> fmt::Result {
    let [_, _, bytes @ ..] = address.to_be_bytes();
    bytes.iter().enumerate().try_for_each(|(k, byte)| write!(f, "{}{byte:02x}", if k == 0 { "" } else { "-" }))
}
