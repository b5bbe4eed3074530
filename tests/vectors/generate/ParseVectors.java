package org.apache.iceberg;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.apache.iceberg.mapping.NameMappingParser;
import org.apache.iceberg.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.shaded.com.fasterxml.jackson.databind.ObjectMapper;

/** Whether the reference reads a JSON document, and how it writes what it read. */
final class ParseVectors {
  private ParseVectors() {}

  static void write(Path candidates, Path out) throws Exception {
    Map<String, Json> kinds = new TreeMap<>();
    for (JsonNode candidate : new ObjectMapper().readTree(Files.readString(candidates))) {
      String kind = candidate.get("kind").asText();
      String text = candidate.get("json").toString();
      String written;
      try {
        written = parsed(kind, candidate.get("json"));
      } catch (RuntimeException refused) {
        written = "null";
      }
      kinds.computeIfAbsent(kind, any -> new Json())
          .add("note", candidate.get("note").toString(), "json", text, "written", written, "read", candidate.get("read").toString());
    }
    for (Map.Entry<String, Json> kind : kinds.entrySet()) {
      kind.getValue().write(out, kind.getKey() + "_json");
    }
  }

  private static String parsed(String kind, JsonNode json) {
    switch (kind) {
      case "schema":
        return SchemaParser.toJson(SchemaParser.fromJson(json));
      case "partition_spec":
        return PartitionSpecParser.toJson(PartitionSpecParser.fromJson(json));
      case "sort_order":
        return SortOrderParser.toJson(SortOrderParser.fromJson(json));
      case "name_mapping":
        return NameMappingParser.toJson(NameMappingParser.fromJson(json.toString()));
      case "metadata":
        return TableMetadataParser.toJson(TableMetadataParser.fromJson("m.metadata.json", json.toString()));
      default:
        throw new IllegalStateException(kind);
    }
  }
}
