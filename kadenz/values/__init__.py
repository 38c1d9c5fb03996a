# SPDX-License-Identifier: Apache-2.0
"""Executions of counted targets as values: kept under the digest of all that decided them.

An emulated, guest or simulated target reads files and nothing else: two executions with the same
files, arguments and environment write the same bytes. `key` computes that digest, `store` keeps the
bytes, `keeper` decides for one execution whether they are taken from there.
"""
