# SPDX-License-Identifier: Apache-2.0
"""Plots as text: small functions that write SVG.

    element    escaping and nesting; nothing else knows XML
    scale      data to pixels, and where ticks stand
    panel      one plot: heading, axes, grid, legend by direct labels
    response   a figure over message size with quantile bands and fit
    counts     histogram with logarithmic counts
    boxes      box plots, one row each
    series     samples over time, thinned exactly
    style      colours, light and dark

Every plot is one panel 340 units wide, so that its text stays readable on a telephone; a page sets
panels side by side. Colours are CSS variables: inside the report the page gives them, a file of its
own carries them (`panel.standalone`).
"""
