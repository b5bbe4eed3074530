"""Tables of format version 3 whose rows a reader of versions 1 and 2 would get wrong."""

from __future__ import annotations

from tests.interop.java.case import MERGE_ON_READ, Case, create

ROWS = "INSERT INTO {t} SELECT id, CONCAT('k', id % 3) FROM RANGE(0, 20, 1, 1)"


def cases() -> list[Case]:
    vectors = create("id BIGINT, kind STRING", version=3, properties=MERGE_ON_READ)
    variants = create("id BIGINT, v VARIANT", version=3)
    return [
        Case("deletion_vectors", (vectors, ROWS, "DELETE FROM {t} WHERE id = 3")),
        Case("variants", (variants, "INSERT INTO {t} SELECT 1, PARSE_JSON('[1]')")),
    ]
