# SPDX-License-Identifier: Apache-2.0
"""Measuring: from a request (`preparing`) over jobs (`schedule`, `measure`) to run folders.

A target is measured under conditions (`condition`, `conditions/`); their product are the variants.
"""
