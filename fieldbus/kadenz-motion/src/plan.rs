// SPDX-License-Identifier: Apache-2.0
//! A plan of the lab: lines on standard input, ended by `end` (docs/reference/wire-format.md, "Plan").

use std::io::{BufRead, Write};

use kadenz_record::{Begin, Bench, Dtype, End, EndLane, Map, Param, Proof, RecordError, Status, Value, Writer};
use kadenz_rt::now_ns;

use crate::edge::{Acquisition, ACQUISITION, EDGE_JITTER, PERIOD_US};
use crate::error::MotionError;
use crate::given::{self, LATENESS};
use crate::layout::Layout;
use crate::record::{
    Column, Wanted, CLOCK_DIFFERENCE, EXECUTION_TIME, FRAME_TIME, POSITION_ERROR, QUEUE_AGE, RELEASE_LATENCY,
    RESPONSE_TIME, VELOCITY_ERROR,
};
use crate::task::{Task, CLOCK_EVERY};
use crate::AXES;

const RESOLUTION: &str = "clock/resolution";
const READ_COST: &str = "clock/read-cost";
const MONOTONIC: &str = "clock/monotonic";
/// Most samples of one lane: what a 32-bit index can count.
const MOST: i64 = u32::MAX as i64;

/// Request of the lab.
#[derive(Debug, Default)]
pub struct Plan {
    /// The plan has a line `list`: every benchmark is described.
    pub wants_list: bool,
    /// Of the clock, measured first.
    pub clock: Vec<Wanted>,
    /// Of one motion run.
    pub motion: Vec<Wanted>,
    /// Of the edge workload, one run each.
    pub edges: Vec<Wanted>,
    /// Of a program that is given: at most one, because its frames are counted from its start.
    pub given: Option<Wanted>,
    /// Nothing here can measure these: why, and how the record ends.
    pub refused: Vec<(Wanted, Refusal)>,
    /// Every benchmark, each with whether the layout has the devices for it.
    catalog: Vec<Bench>,
    /// Why there is no second ring.
    second: Option<&'static str>,
}

/// Why a record is not measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The plan asks for something that does not exist.
    Unknown(String),
    /// The layout has no devices for it.
    NotApplicable(String),
}

impl Plan {
    /// Reads a plan until its line `end`. What the layout has no devices for is not applicable, and next to a program
    /// that is given nothing else is. Without a second ring, `second` says why.
    pub fn read(
        input: impl BufRead,
        layout: &Layout,
        is_given: bool,
        second: Result<(), &'static str>,
    ) -> Result<Self, MotionError> {
        let mut plan = Self { catalog: catalog(layout, is_given), second: second.err(), ..Self::default() };
        for line in input.lines() {
            let line = line.map_err(|source| MotionError::System {
                action: "read the plan".into(),
                source,
                remedy: "Give it on standard input, ended by a line `end`",
            })?;
            match line.trim() {
                "end" => break,
                "list" => plan.wants_list = true,
                text if text.is_empty() || text.starts_with('#') => {}
                text => plan.add(point(text)?),
            }
        }
        Ok(plan)
    }

    fn add(&mut self, wanted: Wanted) {
        if let Some(refusal) = refusal(&wanted, &self.catalog) {
            return self.refused.push((wanted, refusal));
        }
        if let Some(reason) = self.second.filter(|_| Acquisition::of(&wanted) == Acquisition::Second) {
            return self.refused.push((wanted, Refusal::Unknown(reason.into())));
        }
        match wanted.bench.as_str() {
            RESOLUTION | READ_COST | MONOTONIC => self.clock.push(wanted),
            EDGE_JITTER => self.edges.push(wanted),
            LATENESS if self.given.is_none() => self.given = Some(wanted),
            LATENESS => {
                let reason = "a program that is given is measured once a run: give each parameter one value";
                self.refused.push((wanted, Refusal::Unknown(reason.into())));
            }
            _ => self.motion.push(wanted),
        }
    }

    /// Answers the plan `list` with a BENCH frame for each benchmark.
    pub fn list<W: Write>(&self, writer: &mut Writer<W>) -> Result<(), RecordError> {
        if !self.wants_list {
            return Ok(());
        }
        self.catalog.iter().try_for_each(|bench| writer.bench(bench))
    }

    /// Ends what cannot be measured with its reason; the rest of the plan still runs.
    pub fn end_refused<W: Write>(&self, writer: &mut Writer<W>) -> Result<(), RecordError> {
        for (wanted, refusal) in &self.refused {
            let (status, reason) = match refusal {
                Refusal::Unknown(reason) => (Status::Failed, reason),
                Refusal::NotApplicable(reason) => (Status::NotApplicable, reason),
            };
            writer.begin(&begin(wanted, "none", "ns"))?;
            writer.end(&End {
                record: wanted.record,
                status,
                reason: reason.clone(),
                lanes: vec![EndLane { taken: 0, missed: wanted.samples, overrun: 0 }],
                proof: Proof::default(),
                drains: vec![],
            })?;
        }
        Ok(())
    }

    /// Measures the clock: its smallest steps, the cost of reading it, and whether it ever goes back.
    pub fn measure_clock<W: Write>(&self, writer: &mut Writer<W>) -> Result<(), RecordError> {
        for wanted in &self.clock {
            writer.begin(&begin(wanted, "clock", "ns"))?;
            let mut column = Column::new(wanted.record, 0, wanted.samples, wanted.samples as usize);
            let mut proof = Proof::default();
            let mut before = now_ns();
            for _ in 0..wanted.samples {
                let mut now = now_ns();
                if wanted.bench == RESOLUTION {
                    while now == before {
                        now = now_ns();
                    }
                }
                proof.checked += 1;
                if now < before {
                    proof.failed += 1;
                    proof.reason = "the clock went back".into();
                }
                column.push(u32::try_from(now.saturating_sub(before)).unwrap_or(u32::MAX));
                // A read cost is between two reads back to back, with nothing of this loop between them.
                before = if wanted.bench == READ_COST { now_ns() } else { now };
            }
            column.flush(writer)?;
            let status = if proof.failed == 0 { Status::Ok } else { Status::Invalid };
            let reason = proof.reason.clone();
            writer.end(&End {
                record: wanted.record,
                status,
                reason,
                lanes: vec![column.end()],
                proof,
                drains: vec![],
            })?;
        }
        Ok(())
    }
}

fn begin(wanted: &Wanted, lane: &str, unit: &str) -> Begin {
    Begin {
        record: wanted.record,
        bench: wanted.bench.clone(),
        planned: wanted.samples,
        lanes: vec![lane.into()],
        dtype: Dtype::U4,
        unit: unit.into(),
        params: wanted.params.clone(),
        ranks: Map::new(),
    }
}

/// Reads a point, `bench id=1 samples=1000 key=value …`.
fn point(line: &str) -> Result<Wanted, MotionError> {
    let bad = |what: &str| MotionError::Usage(format!("plan line `{line}`: {what}. Write `bench id=1 samples=1000 …`"));
    let mut words = line.split_whitespace();
    let bench = words.next().unwrap_or_default().to_owned();
    let mut params: Map<Value> = Map::new();
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| bad(&format!("`{word}` is not key=value")))?;
        let is_word = value.starts_with(|first: char| first.is_ascii_lowercase());
        let value = match value.parse() {
            Ok(number) => Value::Number(number),
            Err(_) if is_word => Value::Word(value.into()),
            Err(_) => return Err(bad(&format!("`{value}` is neither a whole number nor a word"))),
        };
        params.insert(key.to_owned(), value);
    }
    let mut take = |key: &str, most: i64| {
        let value = params.shift_remove(key).ok_or_else(|| bad(&format!("`{key}` is missing")))?;
        let value = value.number().ok_or_else(|| bad(&format!("{key} = {value} is not a whole number")))?;
        if (0..=most).contains(&value) {
            Ok(value as u64)
        } else {
            Err(bad(&format!("{key} = {value} is out of range")))
        }
    };
    let record = take("id", u16::MAX.into())? as u16;
    let samples = take("samples", MOST)?;
    Ok(Wanted { record, bench, params, samples })
}

/// Why a point cannot be measured.
fn refusal(wanted: &Wanted, catalog: &[Bench]) -> Option<Refusal> {
    let Some(bench) = catalog.iter().find(|bench| bench.name == wanted.bench) else {
        let known: Vec<_> = catalog.iter().map(|bench| bench.name.as_str()).collect();
        return Some(Refusal::Unknown(format!("no benchmark `{}`. Known: {}", wanted.bench, known.join(", "))));
    };
    let not_applicable = || (!bench.available).then(|| Refusal::NotApplicable(bench.reason.clone()));
    misfit(wanted, bench).map(Refusal::Unknown).or_else(not_applicable)
}

/// The first of a point's parameters that is unknown or out of range, or why they do not fit each other.
fn misfit(wanted: &Wanted, bench: &Bench) -> Option<String> {
    let name = wanted.bench.as_str();
    for (key, value) in &wanted.params {
        let Some(param) = bench.params.iter().find(|known| known.name() == key) else {
            let known: Vec<_> = bench.params.iter().map(Param::name).collect();
            let known = if known.is_empty() { "It takes none".into() } else { format!("Known: {}", known.join(", ")) };
            return Some(format!("{name}: unknown parameter `{key}`. {known}"));
        };
        match (param, value) {
            (Param::Number(.., low, high), Value::Number(number)) if (low..=high).contains(&number) => {}
            (Param::Words(.., words), Value::Word(word)) if words.contains(word) => {}
            (Param::Number(.., low, high), _) => {
                return Some(format!("{name}: {key} = {value} is out of range. It takes {low} to {high}"));
            }
            (Param::Words(.., words), _) => {
                return Some(format!("{name}: {key} = {value} is none of its words: {}", words.join(", ")));
            }
        }
    }
    match wanted.period_us() {
        Some(period_us) if wanted.number("period_us").is_none_or(|asked| asked == period_us) => None,
        Some(period_us) => {
            Some(format!("{name}: its period_us is {period_us} with these parameters: {:?}", wanted.params))
        }
        None if bench.params.is_empty() || [EDGE_JITTER, LATENESS].contains(&name) => None,
        None => Some(format!("{name}: no task or joint has these parameters: {:?}", wanted.params)),
    }
}

/// Why a benchmark cannot be measured with this layout, or next to a program that is given; empty if it can.
fn lack(name: &str, layout: &Layout, is_given: bool) -> &'static str {
    match name {
        RESOLUTION | READ_COST | MONOTONIC => "",
        LATENESS if is_given => "",
        LATENESS => "no program is given to be measured: --program FILE, on a board with network cards",
        _ if is_given => "the program that is given is measured alone",
        EDGE_JITTER if layout.edge.is_some() => "",
        EDGE_JITTER => "the layout has no [edge] table, so no terminal stamps edges",
        _ if layout.has_axes() => "",
        _ => "the layout has no [[axis]] entries, so nothing moves",
    }
}

/// The known benchmarks, and which of them this layout has no devices for.
fn catalog(layout: &Layout, is_given: bool) -> Vec<Bench> {
    let bench = |name: &str, begins: &str, ends: &str, source: &str, params: &[Param]| Bench {
        name: name.into(),
        begins: begins.into(),
        ends: ends.into(),
        source: source.into(),
        self_timed: false,
        nature: match name {
            RESOLUTION | READ_COST | MONOTONIC => "context",
            RELEASE_LATENCY => "periodic",
            EDGE_JITTER | LATENESS => "edges",
            _ => "span",
        }
        .into(),
        available: lack(name, layout, is_given).is_empty(),
        reason: lack(name, layout, is_given).into(),
        params: params.to_vec(),
    };
    let number = |name: &str, first, low, high| Param::Number(name.to_owned(), first, low, high);
    let task = [number("priority", 90, 70, 95), number("period_us", 1000, 1000, 100_000)];
    // Each has the time between two of its samples, so that a length in seconds means the same for all.
    let every = |us: i64| number("period_us", us, us, us);
    let main_us = Task::Main.period_ms() as i64 * 1000;
    let (cycle, reading) = ([every(main_us)], [every(main_us * CLOCK_EVERY as i64)]);
    // Half of the cycles lead out, half back.
    let joint = [number("joint", 0, 0, AXES as i64 - 1), every(2 * main_us)];
    let edge = [
        every(PERIOD_US),
        number("n", 10_000, 1, MOST),
        number("phase_us", 0, 0, PERIOD_US - 1),
        number("soft_timer", 0, 0, 1),
        Param::Words(ACQUISITION.into(), 0, 0, 1, Acquisition::words()),
    ];
    let cycle_of_any = [
        number("period_us", given::PERIOD_US, 100, 1_000_000),
        number("n", 10_000, 1, MOST),
        number("skip", given::SKIP, 0, 1_000_000),
        number("frames", 1, 1, 64),
    ];
    let five = "yoo2024, section 5";
    vec![
        bench(RESOLUTION, "a read of the clock", "the first that differs", "method, rule 4", &[]),
        bench(READ_COST, "a read of the clock", "the next read", "method, rule 4", &[]),
        bench(MONOTONIC, "a read of the clock", "the next read", "method, rule 4", &[]),
        bench(RESPONSE_TIME, "release of a period", "its completion", "yoo2024, table 5", &task),
        bench(RELEASE_LATENCY, "release of a period", "its start", five, &task),
        bench(EXECUTION_TIME, "start of a period", "its completion, CPU time only", five, &task),
        bench(QUEUE_AGE, "message handed to the queue", "its use by the main task", five, &cycle),
        bench(FRAME_TIME, "frame handed to the interface", "its answer read", five, &cycle),
        bench(CLOCK_DIFFERENCE, "reference clock", "clock farthest from it", five, &reading),
        bench(POSITION_ERROR, "reference", "actual position", "yoo2024, figure 15", &joint),
        bench(VELOCITY_ERROR, "reference", "actual velocity", "yoo2024, table 6", &joint),
        bench(EDGE_JITTER, "first rising edge", "each rising edge", "cereia2011, section II", &edge),
        bench(LATENESS, "first cyclic frame", "each cyclic frame, handed to its card", "decision 81", &cycle_of_any),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::BuiltIn;

    fn read(text: &str, built_in: BuiltIn) -> Result<Plan, MotionError> {
        Plan::read(text.as_bytes(), &built_in.layout().unwrap(), false, Ok(()))
    }

    /// Records and reasons that the plan asks for in vain.
    fn unknown(plan: &Plan) -> Vec<(u16, &str)> {
        let records = plan.refused.iter().filter_map(|(wanted, refusal)| match refusal {
            Refusal::Unknown(reason) => Some((wanted.record, reason.as_str())),
            Refusal::NotApplicable(_) => None,
        });
        records.collect()
    }

    #[test]
    fn a_plan_is_sorted_by_what_measures_it() {
        let text = "# a comment\nlist\nclock/resolution id=0 samples=10\n\
                    motion/response-time id=10 samples=500 priority=85 period_us=2000\n\
                    motion/position-error id=11 samples=2500 joint=3\nethercat/edge-jitter id=12 samples=7\n\
                    itc/queue id=13 samples=1\nmotion/position-error id=14 samples=1 joint=9\nend\nnot read\n";
        let plan = read(text, BuiltIn::Indy7).unwrap();
        assert!(plan.wants_list);
        assert_eq!((plan.clock.len(), plan.motion.len(), plan.edges.len()), (1, 2, 1));
        assert_eq!(plan.motion[0].cycles(), Some(1000));
        assert_eq!(plan.motion[1].cycles(), Some(5000));
        assert_eq!(unknown(&plan).into_iter().map(|(record, _)| record).collect::<Vec<_>>(), [13, 14]);
    }

    #[test]
    fn an_unknown_parameter_or_value_is_refused_and_the_known_ones_are_named() {
        for (line, words) in [
            ("motion/queue-age id=1 samples=9 seconds=6", "unknown parameter `seconds`. Known: period_us"),
            ("clock/monotonic id=1 samples=9 joint=1", "unknown parameter `joint`. It takes none"),
            ("motion/position-error id=1 samples=9 joint=6", "joint = 6 is out of range. It takes 0 to 5"),
            ("motion/position-error id=1 samples=9", "no task or joint has these parameters"),
            ("motion/response-time id=1 samples=9 priority=91 period_us=1000", "no task or joint"),
            ("motion/response-time id=1 samples=9 priority=85 period_us=1000", "period_us is 2000"),
            ("motion/frame-time id=1 samples=9 period_us=2000", "It takes 1000 to 1000"),
            ("ethercat/edge-jitter id=1 samples=9 period_us=500", "out of range"),
            ("ethercat/edge-jitter id=1 samples=9 period_us=long", "out of range"),
            ("ethercat/edge-jitter id=1 samples=9 acquisition=third", "none of its words: same, second"),
            ("ethercat/edge-jitter id=1 samples=9 acquisition=1", "none of its words: same, second"),
            ("itc/queue id=1 samples=9", "no benchmark `itc/queue`. Known: clock/resolution"),
        ] {
            let plan = read(line, BuiltIn::Indy7).unwrap();
            let reason = unknown(&plan).first().map(|(_, reason)| *reason).unwrap_or_default();
            assert!(reason.contains(words), "{line}: {reason}");
            assert!(plan.motion.is_empty() && plan.clock.is_empty() && plan.edges.is_empty(), "{line}");
        }
    }

    #[test]
    fn every_record_of_a_motion_has_a_period_so_that_seconds_mean_the_same_for_all() {
        let seconds = 6;
        let catalog = catalog(&BuiltIn::Indy7.layout().unwrap(), false);
        for bench in catalog.iter().filter(|bench| bench.name.starts_with("motion/")) {
            let initial: Map<Value> =
                bench.params.iter().map(|param| (param.name().to_owned(), param.initial())).collect();
            let period_us =
                initial.get("period_us").and_then(Value::number).unwrap_or_else(|| panic!("{} has none", bench.name));
            // As the lab turns seconds into samples.
            let samples = (seconds * 1_000_000 / period_us) as u64;
            let wanted = Wanted { record: 1, bench: bench.name.clone(), params: initial, samples };
            assert_eq!(refusal(&wanted, &catalog), None, "{}", bench.name);
            let cycles = wanted.cycles().unwrap();
            assert!((5_984..=6_000).contains(&cycles), "{}: {cycles} cycles", bench.name);
        }
    }

    #[test]
    fn a_program_that_is_given_is_measured_alone_and_once() {
        let text = "clock/resolution id=0 samples=9\ncontrol/lateness id=1 samples=9 skip=5\n\
                    control/lateness id=2 samples=9 skip=6\nethercat/edge-jitter id=3 samples=9\n";
        let layout = BuiltIn::Terminals.layout().unwrap();
        let plan = Plan::read(text.as_bytes(), &layout, true, Ok(())).unwrap();
        assert_eq!((plan.clock.len(), plan.edges.len()), (1, 0));
        assert_eq!(plan.given.as_ref().map(|wanted| wanted.record), Some(1));
        assert_eq!(unknown(&plan).into_iter().map(|(record, _)| record).collect::<Vec<_>>(), [2]);
        let without = Plan::read(text.as_bytes(), &layout, false, Ok(())).unwrap();
        assert!(without.given.is_none() && without.edges.len() == 1);
    }

    #[test]
    fn what_the_layout_has_no_devices_for_is_not_applicable() {
        let text =
            "motion/response-time id=1 samples=9 priority=90 period_us=1000\nethercat/edge-jitter id=2 samples=9\n\
                    clock/resolution id=3 samples=9\nmotion/position-error id=4 samples=9 joint=9\n";
        let plan = read(text, BuiltIn::Terminals).unwrap();
        assert_eq!((plan.clock.len(), plan.motion.len(), plan.edges.len()), (1, 0, 1));
        let reason = "the layout has no [[axis]] entries, so nothing moves";
        assert_eq!((plan.refused[0].0.record, &plan.refused[0].1), (1, &Refusal::NotApplicable(reason.into())));
        assert_eq!(unknown(&plan).len(), 1, "a parameter out of range is wrong with every layout");
        for bench in &plan.catalog {
            assert_eq!(
                (bench.available, bench.reason.is_empty()),
                (!bench.name.starts_with("motion/") && bench.name != LATENESS, bench.available)
            );
        }
        let mut layout = BuiltIn::Indy7.layout().unwrap();
        layout.edge = None;
        let plan = Plan::read(text.as_bytes(), &layout, false, Ok(())).unwrap();
        assert_eq!((plan.clock.len(), plan.motion.len(), plan.edges.len()), (1, 1, 0));
        assert!(matches!(&plan.refused[0].1, Refusal::NotApplicable(reason) if reason.contains("no [edge] table")));
    }

    #[test]
    fn a_second_acquisition_without_a_second_ring_says_what_it_needs() {
        let text = "ethercat/edge-jitter id=1 samples=9 acquisition=second\nethercat/edge-jitter id=2 samples=9\n";
        let layout = BuiltIn::Terminals.layout().unwrap();
        let plan = Plan::read(text.as_bytes(), &layout, false, Err("name both interfaces")).unwrap();
        assert_eq!(unknown(&plan), [(1, "name both interfaces")]);
        assert_eq!(plan.edges.len(), 1);
        let plan = Plan::read(text.as_bytes(), &layout, false, Ok(())).unwrap();
        assert_eq!(
            plan.edges.iter().map(Acquisition::of).collect::<Vec<_>>(),
            [Acquisition::Second, Acquisition::Same]
        );
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        for line in ["clock/resolution samples=3", "clock/resolution id=1 samples=-3", "clock/resolution id=x"] {
            let error = read(line, BuiltIn::Indy7).unwrap_err().to_string();
            assert!(error.contains(line), "{error}");
        }
    }
}
