# SPDX-License-Identifier: Apache-2.0
"""Results to HTML, SVG, Markdown and CSV.

Its modules:

    page                    the contents of the page, in order
    standings, answers, margins   the first screen: the table of several systems, the sentences
    render                  the page as one self-contained HTML file; figures and tables as files
    figures, svg/           plots
    table, tables, studies  tables; the studies' own layouts
    labels, digits          names and figures in words
"""

from kadenz.report.render import write_figures, write_page, write_tables

__all__ = ["write_figures", "write_page", "write_tables"]
