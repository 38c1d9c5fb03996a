// SPDX-License-Identifier: Apache-2.0
//! Homing (CiA 402, mode 6): methods 17, 18, 33, 34, 35 and 37.

/// Methods of the drive; writing another one is refused.
pub const METHODS: [i64; 7] = [0, 17, 18, 33, 34, 35, 37];

/// A homing run, by its phase.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Homing {
    /// Waits for the start bit (4) of the controlword.
    #[default]
    Idle,
    /// Towards the limit switch, in this direction.
    Seek(f64),
    /// Away from the limit switch until it opens, in this direction.
    Leave(f64),
    /// To the next index pulse, in this direction, from this revolution.
    Index(f64, i64),
    /// Home found: bits 10 and 12 of the statusword.
    Attained,
    /// Failed, bit 13 of the statusword: an unusable method, or a switch before the index pulse.
    Error,
}

/// Inputs of a step.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Whether the negative limit switch is reached.
    pub negative: bool,
    /// Whether the positive limit switch is reached.
    pub positive: bool,
    /// Whole revolutions of the encoder: the index pulse lies between two.
    pub revolution: i64,
}

impl Homing {
    /// Starts homing by a method of CiA 402.
    pub fn start(method: i64, seen: &Seen) -> Self {
        match method {
            17 => Homing::Seek(-1.0),
            18 => Homing::Seek(1.0),
            33 => Homing::Index(-1.0, seen.revolution),
            34 => Homing::Index(1.0, seen.revolution),
            35 | 37 => Homing::Attained,
            _ => Homing::Error,
        }
    }

    /// One step: the velocity to run at, rad/s. `fast` and `slow` are the speeds of 0x6099.
    pub fn step(&mut self, seen: &Seen, fast: f64, slow: f64) -> f64 {
        let closed = |direction: f64| if direction < 0.0 { seen.negative } else { seen.positive };
        match *self {
            Homing::Seek(direction) if closed(direction) => {
                *self = Homing::Leave(-direction);
                0.0
            }
            Homing::Seek(direction) => direction * fast,
            Homing::Leave(direction) if !closed(-direction) => {
                *self = Homing::Attained;
                0.0
            }
            Homing::Leave(direction) => direction * slow,
            Homing::Index(_, from) if seen.revolution != from => {
                *self = Homing::Attained;
                0.0
            }
            // The switch comes before the index pulse: there is none this way.
            Homing::Index(direction, _) if closed(direction) => {
                *self = Homing::Error;
                0.0
            }
            Homing::Index(direction, _) => direction * slow,
            Homing::Idle | Homing::Attained | Homing::Error => 0.0,
        }
    }
}
