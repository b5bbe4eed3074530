"""A table on the server with prepared replies."""

from __future__ import annotations

import json

from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC
from icefloe.schema import Schema
from icefloe.table.metadata import TableMetadataUtil, new_table_metadata
from icefloe.table.sorting import UNSORTED_SORT_ORDER
from icefloe.table.update import update_from_json, update_table_metadata
from icefloe.types import LongType, NestedField

from tests.catalogs.rest.protocol_server import Answer

TABLE = "/v1/namespaces/db/tables/t"
ENDPOINT = "/v1/{prefix}/namespaces/{namespace}/tables/{table}"


def table_json(location, **parts):
    metadata = new_table_metadata(
        Schema(NestedField(1, "id", LongType())), UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER, location
    )
    return {
        "metadata-location": f"{location}/metadata/00000-a.metadata.json",
        "metadata": json.loads(metadata.model_dump_json()),
        **parts,
    }


class ServedTable:
    """A table on the prepared server, which applies commits."""

    def __init__(self, server, location, **parts) -> None:
        self.body = table_json(location, **parts)
        self.version = 0
        server.on("GET", TABLE, lambda request: Answer(self.body))
        server.on("POST", TABLE, self.commit)

    def commit(self, request):
        updates = tuple(update_from_json(update) for update in request.json()["updates"])
        metadata = update_table_metadata(TableMetadataUtil.parse_obj(self.body["metadata"]), updates)
        self.version += 1
        location = f"{metadata.location}/metadata/{self.version:05d}-a.metadata.json"
        self.body = {
            **self.body,
            "metadata": json.loads(metadata.model_dump_json()),
            "metadata-location": location,
        }
        return Answer(self.body)
