"""The ingest and the link as functions on Arrow batches, for engines that run on many machines.

Knows no engine and no SQL. `pipeline` connects the functions; an engine, such as `lshdb.spark`, runs them; `load` puts
the result into an index. The functions only convert. They compute with the functions of an ingest.

A document is known by its place: the ordinal of its source, and its position among the documents of that source. A
content is known by the place of its first document, so contents sort as their keys in an index do, and oversized
buckets expand to the same pairs.
"""
