# SPDX-License-Identifier: Apache-2.0
"""Runs kept for years: Parquet below one folder or object store, read with SQL.

`Place` opens an archive, `adding.add` puts a run into it, `query.connect` gives its tables, and
`restore.restore` writes a run folder again, byte for byte (docs/reference/archive.md).
"""
