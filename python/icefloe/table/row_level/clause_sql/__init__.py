"""Conditions and values of a merge as Spark SQL text: parsed by sqlglot, bound to columns, evaluated on Arrow batches.

Evaluation follows Spark in ANSI mode. Binding refuses texts whose result would differ from Spark's, before any row is read.
"""
