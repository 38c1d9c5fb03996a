# SPDX-License-Identifier: Apache-2.0
"""Executions on other machines, and places of a rack. Needs the extra `farm`."""
