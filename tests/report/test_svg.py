# SPDX-License-Identifier: Apache-2.0
"""Plots: valid XML, everything inside the picture, sensible ticks."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadenz.report.svg import boxes, scale, style
from kadenz.report.svg.counts import counts
from kadenz.report.svg.element import el, text
from kadenz.report.svg.panel import LABEL_PITCH, WIDTH, Caption, Panel, Plot, standalone
from kadenz.report.svg.response import Line, Point, dots, response
from kadenz.report.svg.series import series
from kadenz.stats.box import box
from kadenz.stats.envelope import envelope
from kadenz.stats.histogram import histogram

NAMESPACE = "{http://www.w3.org/2000/svg}"
values = st.floats(1e-6, 1e9)


@given(low=st.floats(-1e9, 1e9), span=st.floats(0, 1e9))
def test_linear_ticks_are_round_and_few_and_inside_the_scale(low: float, span: float) -> None:
    axis = scale.linear(low, low + span, 0, 100)
    assert axis.low <= low and axis.high >= low + span
    assert 2 <= len(axis.ticks) <= 9
    for tick in axis.ticks:
        assert axis.low - 1e-6 * abs(axis.low) <= tick <= axis.high + 1e-6 * abs(axis.high)


@given(low=values, factor=st.floats(1, 1e12))
def test_logarithmic_ticks_are_inside_and_not_crowded(low: float, factor: float) -> None:
    axis = scale.logarithmic(low, low * factor, 0, 100)
    assert 1 <= len(axis.ticks) <= 7
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)


@given(low=values, factor=st.floats(1.1, 1e6), share=st.floats(-1, 2))
def test_a_scale_never_leaves_its_pixels(low: float, factor: float, share: float) -> None:
    for make in (scale.linear, scale.logarithmic):
        axis = make(low, low * factor, 40, 300)
        assert 40 - 1e-6 <= axis(low + share * low * factor) <= 300 + 1e-6


def test_scales_map_their_ends() -> None:
    line = scale.linear(0, 10, 100, 200)
    assert (line(0), line(5), line(10)) == (100, 150, 200)
    log = scale.logarithmic(1, 100, 100, 200)
    assert log(10) == pytest.approx(150)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 10, (0, 2, 4, 6, 8, 10)),
        (0, 600, (0, 200, 400, 600)),
        (60, 600, (0, 200, 400, 600)),
        (0, 0.37, (0, 0.1, 0.2, 0.3, 0.4)),
    ],
)
def test_ticks_are_where_a_reader_expects_them(
    low: float, high: float, ticks: tuple[float, ...]
) -> None:
    assert scale.linear(low, high, 0, 1).ticks == ticks


def test_a_logarithmic_scale_refuses_zero() -> None:
    with pytest.raises(ValueError, match="cannot begin at 0"):
        scale.logarithmic(0, 10, 0, 1)


def test_markup_in_names_is_escaped() -> None:
    assert text(0, 0, "a<b & c") == '<text x="0" y="0">a&lt;b &amp; c</text>'
    assert el("g", aria_label='say "x" <y>') == "<g aria-label='say \"x\" &lt;y&gt;'/>"


def plots() -> list[Plot]:
    rng = np.random.default_rng(2)
    body = rng.lognormal(8, 0.2, 5000).astype(np.uint32)
    tail = np.concatenate([body, [900_000]]).astype(np.uint32)
    points = [Point(s, 10 + s, 11 + s, 12 + s, 15 + s, 40 + s) for s in (60.0, 300.0, 600.0)]

    def caption(name: str, colour: int = 0) -> Caption:
        return Caption("a <target>", "µs & more", "µs", name, colour)

    steep = [Point(s, 1, None, 2, None, 9e4) for s in (4.0, 64.0, 3072.0)]
    return [
        response(points, caption("r"), fit=Line(12, 1, True)),
        response(steep, caption("log", 1), fit=Line(2, 0, False)),
        dots([(60, 9.84, "Fig. 2"), (600, 12.85, "Fig. 2")], caption("d")),
        counts(
            histogram(tail, cells=96, spacing="log"),
            1e-3,
            caption("c", 2),
            marks=[("median", 3.0), ("p99", 4.8)],
            cold=[8.0, 0.1],
        ),
        counts(histogram(np.full(9, 5), cells=9), 1, caption("one"), marks=[], cold=[]),
        boxes.boxes(
            [
                boxes.Row("small", box(body), float(body.min()), float(body.max()), 1.0),
                boxes.Row("a rather long name", box(tail), float(tail.min()), 900_000.0, 1.0),
            ],
            caption("b", 3),
        ),
        series(
            envelope(tail, cells=240),
            1e-3,
            caption("s", 7),
            named=[(5000, 900.0, "max 900")],
        ),
        series(envelope([4], cells=9), 1.0, caption("s1"), named=[]),
    ]


@pytest.mark.parametrize("plot", plots(), ids=lambda plot: plot.name)
def test_a_plot_is_valid_svg_with_title_and_description(plot: Plot) -> None:
    root = ET.fromstring(plot.svg)
    assert root.tag == f"{NAMESPACE}svg" and root.get("role") == "img"
    title, desc = root.find(f"{NAMESPACE}title"), root.find(f"{NAMESPACE}desc")
    assert title is not None and title.text == "a <target>, µs & more"
    assert desc is not None and desc.text == plot.description and len(plot.description) > 20


@pytest.mark.parametrize("plot", plots(), ids=lambda plot: plot.name)
def test_nothing_is_drawn_outside(plot: Plot) -> None:
    root = ET.fromstring(plot.svg)
    height = float(str(root.get("viewBox")).split()[3])
    for mark in root.iter():
        for key, limit in (("x", WIDTH), ("cx", WIDTH), ("y", height), ("cy", height)):
            if mark.get(key) is not None:
                assert -2.0 <= float(str(mark.get(key))) <= limit, (mark.tag, mark.attrib)
    assert "nan" not in plot.svg and "inf" not in plot.svg


@pytest.mark.parametrize("plot", plots(), ids=lambda plot: plot.name)
def test_a_separate_file_contains_its_colours(plot: Plot) -> None:
    file = standalone(plot)
    root = ET.fromstring(file)
    styles = root.findall(f"{NAMESPACE}style")
    assert len(styles) == 1 and "prefers-color-scheme:dark" in str(styles[0].text)
    assert root.get("width") == "680"


def test_direct_labels_keep_their_distance_and_stay_above_the_axis() -> None:
    panel = Panel("h", "s")
    panel.labels([(panel.bottom - 1, w, "") for w in ("a", "b", "c", "d")], 300)
    ys = sorted(float(str(ET.fromstring(part).get("y"))) for part in panel.parts)
    assert all(b - a >= LABEL_PITCH - 0.2 for a, b in itertools.pairwise(ys))
    assert ys[-1] <= panel.bottom + 4


def test_a_single_sample_in_a_million_is_visible() -> None:
    samples = np.array([100] * 1_000_000 + [150], dtype=np.uint32)
    plot = counts(
        histogram(samples, cells=51),
        1.0,
        Caption("h", "s", "u", "n"),
        marks=[],
        cold=[],
    )
    bars = ET.fromstring(plot.svg).find(f"{NAMESPACE}path")
    assert bars is not None
    heights = [
        float(bar.split("V")[2].rstrip("z")) - float(bar.split("V")[1].split("h")[0])
        for bar in str(bars.get("d")).split("M")[1:]
    ]
    assert len(heights) == 2 and min(heights) > 4.0


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    lin = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * lin[0] + 0.7152 * lin[1] + 0.0722 * lin[2]


def contrast(colour: str, other: str) -> float:
    high, low = sorted((luminance(colour), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
def test_text_and_lines_contrast_with_the_background(theme: str) -> None:
    colours = dict(item.split(":") for item in theme.replace("\n", "").split(";"))
    for name in ("--ink", "--muted", "--alarm", *(f"--s{i}" for i in range(1, 6))):
        # 4.5:1 for text (WCAG 2.1, 1.4.3); the series colours are text too, in labels and badges.
        assert contrast(colours[name], colours["--paper"]) >= 4.5, name


def test_text_above_a_plot_wraps_at_its_edge_without_losing_words() -> None:
    heading = "linux-rt/x86_64@guest (load cpu+timers) (cereia2011-case2)"
    below = "number of samples, of 283; rank 10, full context, stop above 3,000 µs · instructions"
    panel, short = Panel(heading, below), Panel("posix/linux@host", "hosted")
    root = ET.fromstring(panel.finish("name", "").svg)
    shown = [element for element in root.iter() if element.tag.endswith("text")]
    heads = [element.text or "" for element in shown if element.get("class") == "h"]
    others = [element.text or "" for element in shown if element.get("class") is None]
    # The words that distinguish runs, and the clock class, are at the end.
    assert (" ".join(heads), " ".join(others)) == (heading, below)
    assert max(map(len, heads)) <= 44 and max(map(len, others)) <= 58
    # Every line has its place, and the plot keeps the height it has below two lines.
    places = [float(element.get("y", "")) for element in shown]
    assert places == sorted(places) and len(set(places)) == 4 and places[-1] < panel.top
    assert panel.bottom - panel.top == short.bottom - short.top
