"""Conditions and values of a merge as Spark SQL text: parsed by sqlglot, bound to columns, evaluated on Arrow batches.

Evaluation follows Spark in ANSI mode. Whatever would differ from Spark is refused when the text is bound, before any row is read.
"""
