// SPDX-License-Identifier: Apache-2.0
//! The table of an examination, as text and as JSON.

use super::features::{feature, Feature, FEATURES};
use super::{Outcome, Row, Verdict};
use serde::Serialize;
use serde_json::json;
use std::fmt::Write;

/// An examination of one master.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Command of the master.
    pub master: String,
    /// Ring file, or the name of the catalogue's ring.
    pub ring: String,
    /// Version of this program.
    pub version: &'static str,
    /// The cases in their order.
    pub outcomes: Vec<Outcome>,
}

/// Text with control characters made visible: it moves no cursor and is no markup.
pub fn visible(text: &str) -> String {
    let shown = |letter: char| match letter {
        '\t' => " ".into(),
        _ if letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
            letter.escape_unicode().to_string()
        }
        _ => letter.to_string(),
    };
    text.chars().map(shown).collect()
}

impl Report {
    /// All rows, in the order of the directive's features.
    pub fn rows(&self) -> Vec<(&'static Feature, &Row)> {
        let all: Vec<&Row> = self.outcomes.iter().flat_map(|outcome| &outcome.rows).collect();
        let of = |known: &'static Feature| {
            let rows = all.iter().filter(move |row| row.feature == known.id);
            rows.map(move |row| (known, *row)).collect::<Vec<_>>()
        };
        FEATURES.iter().flat_map(of).collect()
    }

    /// Number of rows with a verdict.
    pub fn count(&self, verdict: &Verdict) -> usize {
        self.outcomes.iter().flat_map(|outcome| &outcome.rows).filter(|row| row.verdict == *verdict).count()
    }

    /// The sums in a line.
    pub fn summary(&self) -> String {
        let count = |verdict| self.count(&verdict);
        let (passed, failed) = (count(Verdict::Passed), count(Verdict::Failed));
        format!("{passed} passed, {failed} failed, {} not applicable", count(Verdict::NotApplicable))
    }

    /// The table for a terminal.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "{:<11} {:<41} {:<21} {:<7} reason", "feature", "", "case", "verdict");
        let mut last = "";
        for (known, row) in self.rows() {
            let (id, name) = if known.id == last { ("", "") } else { (known.id, known.name) };
            last = known.id;
            let (verdict, reason) = (row.verdict.name(), visible(&row.reason));
            let _ = writeln!(out, "{id:<11} {name:<41} {:<21} {verdict:<7} {reason}", row.case);
        }
        let _ = writeln!(out, "{}", self.summary());
        out
    }

    /// The table for a page of documentation: feature, classes, case, verdict, reason.
    pub fn markdown(&self) -> String {
        let mut out = "| feature | | class A, B | case | verdict | seen |\n|---|---|---|---|---|---|\n".to_owned();
        for (known, row) in self.rows() {
            let reason = visible(&row.reason).replace('|', "\\|");
            let classes = format!("{}, {}", known.class_a, known.class_b);
            let case = &row.case;
            let _ = writeln!(
                out,
                "| {} | {} | {classes} | `{case}` | {} | {reason} |",
                known.id,
                known.name,
                row.verdict.name()
            );
        }
        out
    }

    /// One JSON object.
    pub fn json(&self) -> String {
        let row = |(known, row): (&Feature, &Row)| {
            json!({
                "feature": known.id, "name": known.name, "class_a": known.class_a, "class_b": known.class_b,
                "case": row.case, "verdict": row.verdict, "reason": row.reason,
            })
        };
        let rows: Vec<_> = self.rows().into_iter().map(row).collect();
        let object = json!({
            "master": self.master, "ring": self.ring, "version": self.version, "rows": rows, "cases": self.outcomes,
        });
        format!("{object:#}\n")
    }
}

/// The features in the order of the directive, for those who list them.
pub fn name_of(id: &str) -> &'static str {
    feature(id).map_or("", |known| known.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examine::html::html;
    use crate::examine::junit::junit;

    fn row(feature: &str, verdict: Verdict, reason: &str) -> Row {
        Row { feature: feature.into(), case: "operation".into(), verdict, reason: reason.into() }
    }

    fn hostile() -> Report {
        let rows = vec![
            row("hot-connect", Verdict::NotApplicable, "never"),
            row("104", Verdict::Failed, "</td><script>alert(1)</script>\u{1b}[2J\u{202e}\" a|b"),
            row("101", Verdict::Passed, "used: LRW"),
        ];
        let output = vec!["\u{1b}]0;title\u{7}<b>&".into()];
        let outcome = Outcome {
            case: "operation".into(),
            faults: vec!["lose-frame@cycle=1".into()],
            rows,
            seconds: 1.5,
            frames: 7,
            master: "ended with exit code 1".into(),
            log: Vec::new(),
            output,
        };
        let master = "./m {interface} <x> & 'y'".into();
        Report { master, ring: "of the catalogue".into(), version: "0", outcomes: vec![outcome] }
    }

    #[test]
    fn rows_stand_in_the_order_of_the_directive_and_are_counted() {
        let report = hostile();
        let ids: Vec<&str> = report.rows().iter().map(|(known, _)| known.id).collect();
        assert_eq!(ids, ["101", "104", "hot-connect"]);
        assert_eq!(report.summary(), "1 passed, 1 failed, 1 not applicable");
        let object: serde_json::Value = serde_json::from_str(&report.json()).expect("one object");
        assert_eq!(object["rows"][1]["verdict"], "failed");
        assert_eq!(object["cases"][0]["frames"], 7);
    }

    #[test]
    fn what_a_master_writes_is_text_in_every_form() {
        let report = hostile();
        for text in [report.text(), report.markdown(), html(&report), junit(&report)] {
            assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'), "{text}");
            assert!(!text.contains('\u{202e}'), "{text}");
        }
        assert!(report.markdown().contains("a\\|b"));
        for text in [html(&report), junit(&report)] {
            assert!(!text.contains("<script>") && !text.contains("<b>"), "{text}");
        }
        let text = junit(&report);
        let document = roxmltree::Document::parse(&text).expect("well-formed");
        let cases: Vec<_> = document.descendants().filter(|node| node.has_tag_name("testcase")).collect();
        let kinds = |tag| cases.iter().filter(|case| case.children().any(|node| node.has_tag_name(tag))).count();
        assert_eq!((cases.len(), kinds("failure"), kinds("skipped"), kinds("system-out")), (3, 1, 1, 1));
        let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).expect("a suite");
        assert_eq!((suite.attribute("tests"), suite.attribute("skipped")), (Some("3"), Some("1")));
    }
}
