package org.apache.iceberg;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.iceberg.encryption.PlaintextEncryptionManager;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.transforms.Transforms;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Types;

/** Manifests and manifest lists of every version, and what the reference reads from them. */
final class Goldens {
  private static final Schema SCHEMA =
      new Schema(
          Types.NestedField.required(1, "id", Types.LongType.get()), Types.NestedField.optional(2, "at", Types.TimestampType.withZone()),
          Types.NestedField.optional(3, "price", Types.DecimalType.of(9, 2)), Types.NestedField.optional(4, "na-me", Types.StringType.get()),
          Types.NestedField.optional(5, "key", Types.UUIDType.get()), Types.NestedField.optional(6, "raw", Types.FixedType.ofLength(3)),
          Types.NestedField.optional(7, "weight", Types.DoubleType.get()));
  /** Not by the fixed column: the reference writes a fixed partition value with a length before it, which is no Avro. */
  private static final PartitionSpec SPEC =
      PartitionSpec.builderFor(SCHEMA).withSpecId(3).add(2, 1000, "at_day", Transforms.fromString("day"))
          .add(1, 1001, "id_bucket", Transforms.fromString("bucket[16]")).add(3, 1002, "price", Transforms.fromString("identity"))
          .add(4, 1003, "na-me", Transforms.fromString("identity")).add(5, 1004, "key", Transforms.fromString("identity"))
          .add(2, 1006, "gone", Transforms.fromString("void")).build();
  private static final String[] TUPLES = {
    "[\"2017-12-01\", 3, \"12.30\", \"\\u2603\", \"f79c3e09-677c-4bbd-a479-3f349cb785e7\", null]",
    "[null, null, null, null, null, null]",
    "[\"1969-12-31\", 0, \"-9999999.99\", \"\", \"00000000-0000-0000-0000-000000000000\", null]"
  };
  private static final Map<Integer, PartitionSpec> SPECS = Map.of(0, PartitionSpec.unpartitioned(), 3, SPEC);

  private final Path out;
  private final Json lists = new Json();

  private Goldens(Path out) {
    this.out = out;
  }

  static void write(Path out) throws IOException {
    Goldens goldens = new Goldens(out);
    List<ManifestFile> first = new ArrayList<>();
    for (int version = 1; version <= 3; version++) {
      List<ManifestFile> manifests = new ArrayList<>();
      manifests.add(goldens.data(version));
      manifests.add(goldens.unpartitioned(version));
      if (version > 1) {
        manifests.add(goldens.deletes(version));
        manifests.addAll(first);
      }
      List<ManifestFile> listed = goldens.list(version, manifests);
      first.addAll(version == 1 ? listed : List.of());
    }
    goldens.lists.write(out, "expected");
  }

  private OutputFile output(String name) {
    out.resolve(name).toFile().delete();
    return Files.localOutput(out.resolve(name).toFile());
  }

  private static Metrics metrics(long rows) {
    Map<Integer, ByteBuffer> lower = new TreeMap<>();
    lower.put(1, Conversions.toByteBuffer(Types.LongType.get(), -5L));
    lower.put(4, ByteBuffer.wrap(new byte[] {(byte) 0xe2, (byte) 0x98, (byte) 0x83}));
    Map<Integer, ByteBuffer> upper = new TreeMap<>();
    upper.put(1, Conversions.toByteBuffer(Types.LongType.get(), Long.MAX_VALUE));
    return new Metrics(
        rows, new TreeMap<>(Map.of(1, 4096L, 4, 300_000_000_000L)), new TreeMap<>(Map.of(1, rows, 4, rows)), new TreeMap<>(Map.of(1, 0L, 4, 1L)),
        new TreeMap<>(Map.of(7, 2L)), lower, upper);
  }

  private static DataFile file(PartitionSpec spec, String path, String tuple, boolean bare) {
    DataFiles.Builder builder = DataFiles.builder(spec).withPath(path).withFormat("parquet").withFileSizeInBytes(1L << 33);
    if (!spec.fields().isEmpty()) {
      builder.withPartition(ProjectionVectors.tuple(spec, tuple));
    }
    if (bare) {
      return builder.withRecordCount(1).build();
    }
    return builder.withMetrics(metrics(10)).withSplitOffsets(List.of(4L, 500L, 1L << 32))
        .withEncryptionKeyMetadata(ByteBuffer.wrap(new byte[] {1, 2, 3})).withSortOrderId(0).build();
  }

  private ManifestFile data(int version) throws IOException {
    ManifestWriter<DataFile> writer = ManifestFiles.write(version, SPEC, output("v" + version + "_data.avro"), 70L + version);
    try (writer) {
      writer.add(file(SPEC, "s3://b/added", TUPLES[0], false));
      writer.existing(file(SPEC, "s3://b/existing", TUPLES[1], true), 5L, 2L, version == 1 ? null : 1L);
      writer.delete(file(SPEC, "s3://b/deleted", TUPLES[2], false), 2L, 2L);
    }
    return writer.toManifestFile();
  }

  private ManifestFile unpartitioned(int version) throws IOException {
    PartitionSpec spec = PartitionSpec.unpartitioned();
    ManifestWriter<DataFile> writer = ManifestFiles.write(version, spec, output("v" + version + "_unpartitioned.avro"), 70L + version);
    try (writer) {
      writer.add(file(spec, "s3://b/plain", "[]", true));
    }
    return writer.toManifestFile();
  }

  private ManifestFile deletes(int version) throws IOException {
    ManifestWriter<DeleteFile> writer = ManifestFiles.writeDeleteManifest(version, SPEC, output("v" + version + "_deletes.avro"), 70L + version);
    PartitionData tuple = ProjectionVectors.tuple(SPEC, TUPLES[0]);
    try (writer) {
      FileMetadata.Builder positions =
          FileMetadata.deleteFileBuilder(SPEC).ofPositionDeletes().withPartition(tuple).withPath("s3://b/positions")
              .withFileSizeInBytes(9).withRecordCount(2).withReferencedDataFile("s3://b/added");
      if (version == 3) {
        writer.add(positions.withFormat("puffin").withContentOffset(4).withContentSizeInBytes(40).build());
      } else {
        writer.add(positions.withFormat("parquet").build());
      }
      writer.existing(
          FileMetadata.deleteFileBuilder(SPEC).ofEqualityDeletes(1, 4).withPartition(tuple).withPath("s3://b/equality")
              .withFormat("avro").withMetrics(metrics(3)).withFileSizeInBytes(9).build(), 5L, 3L, 3L);
    }
    return writer.toManifestFile();
  }

  /** The same manifest under its name alone, so that the list reads alike wherever it is stored. */
  private static ManifestFile renamed(ManifestFile file) {
    String name = Path.of(file.path()).getFileName().toString();
    return new GenericManifestFile(
        name, file.length(), file.partitionSpecId(), file.content(), file.sequenceNumber(), file.minSequenceNumber(), file.snapshotId(),
        file.partitions(), null, file.addedFilesCount(), file.addedRowsCount(), file.existingFilesCount(), file.existingRowsCount(),
        file.deletedFilesCount(), file.deletedRowsCount(), null);
  }

  private List<ManifestFile> list(int version, List<ManifestFile> manifests) throws IOException {
    String name = "v" + version + "_list.avro";
    try (ManifestListWriter writer =
        ManifestLists.write(version, output(name), PlaintextEncryptionManager.instance(), 70L + version, 6L, version == 1 ? 0L : 9L, version == 3 ? 100L : null)) {
      manifests.forEach(manifest -> writer.add(renamed(manifest)));
    }
    List<ManifestFile> listed = ManifestLists.read(Files.localInput(out.resolve(name).toFile()));
    List<String> texts = new ArrayList<>();
    for (ManifestFile manifest : listed) {
      texts.add(manifest(manifest));
    }
    lists.add("list", Json.text(name), "manifests", "[\n    " + String.join(",\n    ", texts) + "]");
    return listed;
  }

  private String manifest(ManifestFile file) throws IOException {
    List<String> summaries = new ArrayList<>();
    for (ManifestFile.PartitionFieldSummary summary : file.partitions()) {
      summaries.add(
          Json.object(
              "contains_null", "" + summary.containsNull(), "contains_nan", "" + summary.containsNaN(), "lower_bound",
              hex(summary.lowerBound()), "upper_bound", hex(summary.upperBound())));
    }
    return Json.object(
        "manifest_path", Json.text(file.path()), "manifest_length", "" + file.length(), "partition_spec_id", "" + file.partitionSpecId(),
        "content", "" + file.content().id(), "sequence_number", "" + file.sequenceNumber(), "min_sequence_number", "" + file.minSequenceNumber(),
        "added_snapshot_id", "" + file.snapshotId(), "added_files_count", "" + file.addedFilesCount(), "existing_files_count",
        "" + file.existingFilesCount(), "deleted_files_count", "" + file.deletedFilesCount(), "added_rows_count", "" + file.addedRowsCount(),
        "existing_rows_count", "" + file.existingRowsCount(), "deleted_rows_count", "" + file.deletedRowsCount(), "partitions",
        Json.array(summaries), "entries", entries(file));
  }

  private String entries(ManifestFile file) throws IOException {
    ManifestReader<?> reader = ManifestFiles.open(file, new Local(), SPECS);
    List<String> texts = new ArrayList<>();
    try (reader; CloseableIterable<? extends ManifestEntry<?>> entries = reader.entries()) {
      for (ManifestEntry<?> entry : entries) {
        texts.add(entry(entry));
      }
    }
    return "[\n      " + String.join(",\n      ", texts) + "]";
  }

  private static String entry(ManifestEntry<?> entry) {
    ContentFile<?> file = entry.file();
    List<String> tuple = new ArrayList<>();
    Types.StructType kind = SPECS.get(file.specId()).partitionType();
    for (int at = 0; at < kind.fields().size(); at++) {
      tuple.add(Json.value(kind.fields().get(at).type(), file.partition().get(at, Object.class)));
    }
    String referenced = file instanceof DeleteFile ? ((DeleteFile) file).referencedDataFile() : null;
    return Json.object(
        "status", "" + entry.status().id(), "snapshot_id", "" + entry.snapshotId(), "sequence_number", "" + entry.dataSequenceNumber(),
        "file_sequence_number", "" + entry.fileSequenceNumber(), "content", "" + file.content().id(), "file_path", Json.text(file.location()),
        "file_format", Json.text(file.format().toString()), "spec_id", "" + file.specId(), "partition", Json.array(tuple), "record_count",
        "" + file.recordCount(), "file_size_in_bytes", "" + file.fileSizeInBytes(), "column_sizes", pairs(file.columnSizes()), "value_counts",
        pairs(file.valueCounts()), "null_value_counts", pairs(file.nullValueCounts()), "nan_value_counts", pairs(file.nanValueCounts()),
        "lower_bounds", pairs(file.lowerBounds()), "upper_bounds", pairs(file.upperBounds()), "key_metadata", hex(file.keyMetadata()),
        "split_offsets", "" + file.splitOffsets(), "equality_ids", "" + file.equalityFieldIds(), "sort_order_id", "" + file.sortOrderId(),
        "referenced_data_file", referenced == null ? "null" : Json.text(referenced));
  }

  private static String hex(ByteBuffer bytes) {
    return bytes == null ? "null" : TransformVectors.hex(bytes);
  }

  private static String pairs(Map<Integer, ?> map) {
    if (map == null) {
      return "null";
    }
    Map<String, String> texts = new LinkedHashMap<>();
    new TreeMap<>(map).forEach((key, value) -> texts.put("" + key, value instanceof ByteBuffer ? hex((ByteBuffer) value) : "" + value));
    List<String> pairs = new ArrayList<>();
    texts.forEach((key, value) -> pairs.add("[" + key + ", " + value + "]"));
    return Json.array(pairs);
  }

  /** Files of the directory, by their names. */
  private final class Local implements FileIO {
    @Override
    public InputFile newInputFile(String path) {
      return Files.localInput(out.resolve(path).toFile());
    }

    @Override
    public OutputFile newOutputFile(String path) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void deleteFile(String path) {
      throw new UnsupportedOperationException();
    }
  }
}
