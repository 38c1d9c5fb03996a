# SPDX-License-Identifier: Apache-2.0
"""Plots as text: small functions that write SVG.

    element    escaping and nesting; the only module that knows XML
    scale      data to pixels, and tick positions
    panel      one plot: heading, axes, grid, legend by direct labels
    response   a figure over message size with quantile bands and fit
    counts     histogram with logarithmic counts
    boxes      box plots, one row each
    series     samples over time, thinned exactly
    style      colours, light and dark

Every plot is one panel 340 units wide, so that its text stays readable on a phone; a page sets
panels side by side. Colours are CSS variables, defined by the report's page or, in a separate file,
by the file itself (`panel.standalone`).
"""
