package org.apache.iceberg;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Types;

/** Which delete files apply to which data files, all of one table. */
final class DeleteVectors {
  private static final Schema SCHEMA =
      new Schema(Types.NestedField.optional(1, "id", Types.LongType.get()), Types.NestedField.optional(2, "name", Types.StringType.get()));
  private static final List<PartitionSpec> SPECS =
      List.of(
          PartitionSpec.builderFor(SCHEMA).withSpecId(0).build(),
          PartitionSpec.builderFor(SCHEMA).withSpecId(1).bucket("id", 8, "bucket").build(),
          PartitionSpec.builderFor(SCHEMA).withSpecId(2).alwaysNull("id", "gone").build(),
          PartitionSpec.builderFor(SCHEMA).withSpecId(3).identity("name").build());

  private final List<String> texts = new ArrayList<>();
  private final List<DeleteFile> files = new ArrayList<>();

  private DeleteVectors() {}

  /** Nulls and bounds of column 1 among 10 rows; null is "no statistics". */
  private static Metrics metrics(Long nulls, Long low, Long high) {
    if (nulls == null) {
      return new Metrics(10L);
    }
    return new Metrics(
        10L, null, Map.of(1, 10L), Map.of(1, nulls), null, low == null ? Map.of() : Map.of(1, bytes(low)),
        high == null ? Map.of() : Map.of(1, bytes(high)));
  }

  private static ByteBuffer bytes(long value) {
    return Conversions.toByteBuffer(Types.LongType.get(), value);
  }

  private static String stats(Long nulls, Long low, Long high) {
    return Json.object("null_count", "" + nulls, "lower", "" + low, "upper", "" + high);
  }

  private static PartitionData tuple(int spec, String json) {
    return ProjectionVectors.tuple(SPECS.get(spec), json);
  }

  private void position(int spec, String partition, long sequence, String referenced) {
    FileMetadata.Builder builder =
        FileMetadata.deleteFileBuilder(SPECS.get(spec)).ofPositionDeletes().withFormat("parquet")
            .withFileSizeInBytes(1).withRecordCount(10).withPath("delete-" + files.size());
    if (!SPECS.get(spec).fields().isEmpty()) {
      builder.withPartition(tuple(spec, partition));
    }
    if (referenced != null) {
      builder.withReferencedDataFile(referenced);
    }
    add(builder.build(), 1, spec, partition, sequence, "referenced", referenced == null ? "null" : Json.text(referenced));
  }

  private void equality(int spec, String partition, long sequence, Long nulls, Long low, Long high) {
    FileMetadata.Builder builder =
        FileMetadata.deleteFileBuilder(SPECS.get(spec)).ofEqualityDeletes(1).withFormat("parquet")
            .withFileSizeInBytes(1).withMetrics(metrics(nulls, low, high)).withPath("delete-" + files.size());
    if (!SPECS.get(spec).fields().isEmpty()) {
      builder.withPartition(tuple(spec, partition));
    }
    add(builder.build(), 2, spec, partition, sequence, "stats", stats(nulls, low, high));
  }

  private void add(DeleteFile file, int content, int spec, String partition, long sequence, String key, String text) {
    ((BaseFile<?>) file).setDataSequenceNumber(sequence);
    files.add(file);
    texts.add(
        Json.object(
            "content", "" + content, "spec_id", "" + spec, "partition", partition, "sequence_number", "" + sequence, key, text));
  }

  private String data(DeleteFileIndex index, String path, int spec, String partition, long sequence, Long... stats) {
    DataFiles.Builder builder =
        DataFiles.builder(SPECS.get(spec)).withPath(path).withFormat("parquet").withFileSizeInBytes(1)
            .withMetrics(metrics(stats[0], stats[1], stats[2]));
    if (!SPECS.get(spec).fields().isEmpty()) {
      builder.withPartition(tuple(spec, partition));
    }
    List<DeleteFile> applied = Arrays.asList(index.forDataFile(sequence, builder.build()));
    List<String> rows = new ArrayList<>();
    for (int row = 0; row < files.size(); row++) {
      if (applied.contains(files.get(row))) {
        rows.add("" + row);
      }
    }
    return Json.object(
        "path", Json.text(path), "spec_id", "" + spec, "partition", partition, "sequence_number", "" + sequence, "stats",
        stats(stats[0], stats[1], stats[2]), "deletes", Json.array(rows));
  }

  static void write(Path out) throws Exception {
    DeleteVectors table = new DeleteVectors();
    table.position(0, "[]", 5, null);
    table.position(0, "[]", 6, "a");
    table.position(1, "[3]", 5, null);
    table.position(1, "[3]", 7, "b");
    table.position(1, "[4]", 5, null);
    table.position(1, "[null]", 5, null);
    table.position(3, "[\"x\"]", 6, null);
    table.equality(0, "[]", 4, null, null, null);
    table.equality(0, "[]", 6, 0L, 10L, 20L);
    table.equality(0, "[]", 6, 2L, 10L, 20L);
    table.equality(1, "[3]", 6, null, null, null);
    table.equality(1, "[3]", 7, 0L, 100L, 200L);
    table.equality(2, "[null]", 6, null, null, null);
    table.equality(0, "[]", 8, 10L, null, null);
    Map<Integer, PartitionSpec> specs = Map.of(0, SPECS.get(0), 1, SPECS.get(1), 2, SPECS.get(2), 3, SPECS.get(3));
    DeleteFileIndex index = DeleteFileIndex.builderFor(table.files).specsById(specs).build();
    List<String> data = new ArrayList<>();
    Object[][] places = {
      {"a", 0, "[]"}, {"c", 0, "[]"}, {"b", 1, "[3]"}, {"d", 1, "[3]"}, {"e", 1, "[4]"}, {"f", 1, "[null]"},
      {"g", 2, "[null]"}, {"h", 3, "[\"x\"]"}, {"i", 3, "[\"y\"]"}
    };
    Long[][] stats = {{null, null, null}, {0L, 15L, 30L}, {0L, 21L, 30L}, {3L, 150L, 160L}, {10L, null, null}};
    for (Object[] place : places) {
      for (long sequence : new long[] {0, 4, 5, 6, 7, 8}) {
        Long[] chosen = stats[(int) ((sequence + place[0].hashCode()) % stats.length)];
        data.add(table.data(index, (String) place[0], (Integer) place[1], (String) place[2], sequence, chosen));
      }
    }
    Json cases = new Json();
    List<String> specTexts = new ArrayList<>();
    SPECS.forEach(spec -> specTexts.add(PartitionSpecParser.toJson(spec)));
    cases.add(
        "schema", SchemaParser.toJson(SCHEMA), "specs", Json.array(specTexts), "deletes",
        "[\n    " + String.join(",\n    ", table.texts) + "]", "data", "[\n    " + String.join(",\n    ", data) + "]");
    cases.write(out, "delete_index");
  }
}
