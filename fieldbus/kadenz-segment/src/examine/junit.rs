// SPDX-License-Identifier: Apache-2.0
//! The table as JUnit XML, after the schema of Jenkins (junit-10.xsd), as `kadenz gate` writes it. What does not apply is
//! skipped.

use super::html::escape;
use super::report::{name_of, Report};
use super::{Outcome, Verdict};
use std::fmt::Write;

/// The document, in UTF-8.
pub fn junit(report: &Report) -> String {
    let seconds: f64 = report.outcomes.iter().map(|outcome| outcome.seconds).sum();
    let count = |verdict| report.count(&verdict);
    let (failed, skipped) = (count(Verdict::Failed), count(Verdict::NotApplicable));
    let counts = format!("tests=\"{}\" failures=\"{failed}\" errors=\"0\" time=\"{seconds:.3}\"", report.rows().len());
    let mut out = "<?xml version='1.0' encoding='utf-8'?>\n".to_owned();
    let _ = writeln!(out, "<testsuites name=\"kadenz-segment examine\" {counts}>");
    let _ = writeln!(out, " <testsuite name=\"{}\" {counts} skipped=\"{skipped}\">", escape(&report.master));
    for (known, row) in report.rows() {
        let outcome = report.outcomes.iter().find(|outcome| outcome.case == row.case);
        let time = outcome.map_or(0.0, |outcome| outcome.seconds);
        let name = format!("{} {}", known.id, name_of(known.id));
        let _ = writeln!(
            out,
            "  <testcase classname=\"{}\" name=\"{}\" time=\"{time:.3}\">",
            escape(&row.case),
            escape(&name)
        );
        let reason = escape(&row.reason);
        let _ = match row.verdict {
            Verdict::Failed => {
                let said = outcome.map_or(String::new(), said);
                writeln!(out, "   <failure type=\"{}\" message=\"{reason}\">{said}</failure>", escape(&row.case))
            }
            Verdict::NotApplicable => writeln!(out, "   <skipped message=\"{reason}\"/>"),
            Verdict::Passed => writeln!(out, "   <system-out>{reason}</system-out>"),
        };
        out.push_str("  </testcase>\n");
    }
    out.push_str(" </testsuite>\n</testsuites>\n");
    out
}

/// Log and output of a case.
fn said(outcome: &Outcome) -> String {
    let lines: Vec<String> = outcome.log.iter().chain(&outcome.output).map(|line| escape(line)).collect();
    lines.join("\n")
}
