"""Random statements of Spark SQL over a table with the columns `id`, `n` and `s`, for comparison with another engine."""

from __future__ import annotations

import random

COLUMNS = ("id", "n", "s")
TEXTS = ("a", "b", "it", "")


class RandomStatements:
    """Statements that Spark and DuckDB read alike."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def value(self, column):
        if self.random.random() < 0.2 and column != "id":
            return "NULL"
        return f"'{self.random.choice(TEXTS)}'" if column == "s" else str(self.random.randrange(12))

    def rows(self, count):
        return ", ".join(f"({', '.join(self.value(column) for column in COLUMNS)})" for _ in range(count))

    def comparison(self, sides):
        column = self.random.choice(COLUMNS)
        name = f"{self.random.choice(sides)}.{column}"
        kind = self.random.randrange(7)
        if kind == 6 and column == "s":
            pattern = self.random.choice(["a%", "%t", "i_", "_", "%", "i%t"])
            return f"{name} {self.random.choice(['', 'NOT '])}LIKE '{pattern}'"
        if kind == 0:
            return f"{name} IS {self.random.choice(['', 'NOT '])}NULL"
        if kind == 1:
            return f"{name} {self.random.choice(['', 'NOT '])}IN ({self.literal(column)}, {self.literal(column)})"
        if kind == 2 and column != "s":
            return f"{name} BETWEEN {self.literal(column)} AND {self.literal(column)}"
        if kind == 3 and column != "s":
            return f"{name} % 3 = {self.random.randrange(3)}"
        sign = self.random.choice(["=", "<>", "<", "<=", ">", ">="])
        return f"{name} {sign} {self.literal(column)}"

    def literal(self, column):
        return f"'{self.random.choice(TEXTS)}'" if column == "s" else str(self.random.randrange(12))

    def condition(self, sides, depth=2):
        if depth == 0 or self.random.random() < 0.4:
            return self.comparison(sides)
        kind = self.random.randrange(3)
        left, right = self.condition(sides, depth - 1), self.condition(sides, depth - 1)
        return f"NOT ({left})" if kind == 0 else f"({left}) {('AND', 'OR')[kind - 1]} ({right})"

    def expression(self, column, sides):
        side = self.random.choice(sides)
        if column == "s":
            return self.random.choice([self.value("s"), f"concat(coalesce({side}.s, 'z'), 'x')", f"{side}.s"])
        return self.random.choice([self.value("n"), f"{side}.n", f"coalesce({side}.n, 0) + {side}.id"])

    def statement(self):
        kind = self.random.randrange(5)
        if kind == 0:
            return f"INSERT INTO {{t}} VALUES {self.rows(self.random.randrange(1, 4))}"
        if kind == 1:
            return f"DELETE FROM {{t}} AS t WHERE {self.condition(['t'])}"
        if kind == 2:
            column = self.random.choice(["n", "s"])
            return f"UPDATE {{t}} AS t SET {column} = {self.expression(column, ['t'])} WHERE {self.condition(['t'])}"
        return self.merge()

    def merge(self):
        keys = self.random.sample(range(12), 4)
        source = ", ".join(f"({key}, {self.value('n')}, {self.value('s')})" for key in keys)
        extra = f" AND ({self.condition(['s'], 1)})" if self.random.random() < 0.4 else ""
        clauses = []
        for condition in [f" AND ({self.condition(['t', 's'])})", ""]:
            if self.random.random() < 0.3:
                clauses.append(f"WHEN MATCHED{condition} THEN DELETE")
            else:
                column = self.random.choice(["n", "s"])
                clauses.append(
                    f"WHEN MATCHED{condition} THEN UPDATE SET {column} = {self.expression(column, ['t', 's'])}"
                )
        if self.random.random() < 0.8:
            condition = f" AND ({self.condition(['s'])})" if self.random.random() < 0.5 else ""
            clauses.append(
                f"WHEN NOT MATCHED{condition} THEN INSERT (id, n, s) VALUES (s.id, {self.expression('n', ['s'])}, s.s)"
            )
        if self.random.random() < 0.4:
            clauses.append(
                f"WHEN NOT MATCHED BY SOURCE AND ({self.condition(['t'])}) THEN UPDATE SET n = {self.expression('n', ['t'])}"
            )
        return (
            f"MERGE INTO {{t}} AS t USING (SELECT * FROM (VALUES {source}) AS v(id, n, s)) AS s ON t.id = s.id{extra} "
            + " ".join(clauses)
        )


def ordered(rows):
    return sorted((tuple(row) for row in rows), key=repr)
