# SPDX-License-Identifier: Apache-2.0
"""Decodes frames to records: the wire format of docs/reference/wire-format.md."""
