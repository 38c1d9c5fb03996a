// SPDX-License-Identifier: Apache-2.0
//! The table as one HTML file without scripts and without a network.

use super::report::{visible, Report};
use super::Outcome;
use crate::markup::escaped;
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:75em;margin:2em auto;padding:0 1em;color:#1c2024;background:#fff}\
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3em .6em;border-bottom:1px solid #d8dce0}\
.passed{color:#0a6b2e}.failed{color:#a3121f;font-weight:600}.n-a{color:#5c646c}code,pre{font:13px/1.45 ui-monospace,monospace}\
pre{overflow-x:auto;background:#f4f5f6;padding:.6em}\
@media(prefers-color-scheme:dark){body{color:#e6e8ea;background:#15181b}th,td{border-color:#363c42}.passed{color:#5fd38a}\
.failed{color:#ff8a8f}.n-a{color:#9aa3ab}pre{background:#1e2226}}";

/// Text for HTML and XML: no markup, no control character.
pub fn escape(text: &str) -> String {
    escaped(&visible(text))
}

/// The page.
pub fn html(report: &Report) -> String {
    let mut out = format!("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Examination of a master</title><style>{STYLE}</style>\n");
    let master = escape(&report.master);
    let _ = writeln!(out, "<h1>{}</h1>", escape(&report.summary()));
    let _ = writeln!(
        out,
        "<p>Master: <code>{master}</code>. Ring: {}. kadenz-segment {}.</p>",
        escape(&report.ring),
        report.version
    );
    out.push_str(
        "<table><thead><tr><th>ETG.1500<th>feature<th>class A<th>class B<th>case<th>verdict<th>seen</thead><tbody>\n",
    );
    for (known, row) in report.rows() {
        let name = row.verdict.name();
        let class = name.replace('/', "-");
        let _ = writeln!(
            out,
            "<tr><td>{}<td>{}<td>{}<td>{}<td><code>{}</code><td class=\"{class}\">{name}<td>{}",
            known.id,
            known.name,
            known.class_a,
            known.class_b,
            escape(&row.case),
            escape(&row.reason)
        );
    }
    out.push_str("</tbody></table>\n<h2>Cases</h2>\n");
    report.outcomes.iter().for_each(|outcome| case(&mut out, outcome));
    out.push_str("</html>\n");
    out
}

fn case(out: &mut String, outcome: &Outcome) {
    let fault = match outcome.faults.first() {
        Some(fault) => format!("<code>--fault {}</code>", escape(fault)),
        None => "no fault".into(),
    };
    let _ = writeln!(
        out,
        "<details><summary>{}: {fault}, {:.1} s, {} frames; the master {}</summary><pre>",
        escape(&outcome.case),
        outcome.seconds,
        outcome.frames,
        escape(&outcome.master)
    );
    for line in outcome.log.iter().chain(&outcome.output) {
        let _ = writeln!(out, "{}", escape(line));
    }
    out.push_str("</pre></details>\n");
}
