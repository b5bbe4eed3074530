package org.apache.iceberg;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.iceberg.io.LocationProvider;
import org.apache.iceberg.transforms.Transforms;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.TypeUtil;
import org.apache.iceberg.types.Types;

/** Where files go and how wide decimals are. */
final class LayoutVectors {
  private LayoutVectors() {}

  static void write(Path out) throws Exception {
    paths(out);
    locations(out);
    Json widths = new Json();
    for (int precision = 1; precision <= 38; precision++) {
      widths.add("precision", "" + precision, "bytes", "" + TypeUtil.decimalRequiredBytes(precision));
    }
    widths.write(out, "decimal_storage");
  }

  private static void paths(Path out) throws Exception {
    Json cases = new Json();
    String[][] rows = {
      {"string", "identity", "\"a b\"", "\"a/b\"", "\"a=b&c\"", "\"\\u00e9\\u2603\\ud83d\\ude00\"", "\"100%\"", "\"a+b\"",
        "\"*-._~!'()\"", "\"null\"", "\"\"", "\"x:y;z,?@$#[]\"", "\"\\\\\\\"<>|^`{}\"", "null"},
      {"string", "truncate[3]", "\"a b\"", "null"}, {"string", "bucket[16]", "3"},
      {"boolean", "identity", "true", "false"}, {"int", "identity", "-5"}, {"long", "identity", "-9223372036854775808"},
      {"float", "identity", "1.5", "-0.5"}, {"double", "identity", "1.5", "100.0"},
      {"decimal(9, 2)", "identity", "\"12.30\"", "\"-0.05\"", "\"0.00\""}, {"decimal(9, 0)", "identity", "\"-7\""},
      {"date", "identity", "\"2017-12-01\"", "\"1969-12-31\"", "\"0001-01-01\""}, {"date", "year", "47", "-1", "-1969"},
      {"date", "month", "575", "-1", "-13"}, {"date", "day", "\"2017-12-01\"", "\"1969-12-31\""},
      {"timestamp", "identity", "\"2017-12-01T10:12:55\"", "\"2017-12-01T10:12:55.038194\"", "\"2017-12-01T10:12:00\"",
        "\"1969-12-31T23:59:59.999999\"", "\"2017-12-01T10:12:55.5\""},
      {"timestamptz", "identity", "\"2017-12-01T10:12:55+00:00\"", "\"2017-12-01T10:12:55.038194+00:00\""},
      {"timestamp_ns", "identity", "\"2017-12-01T10:12:55.000000001\"", "\"2017-12-01T10:12:55\""},
      {"timestamptz_ns", "identity", "\"2017-12-01T10:12:55.100000000+00:00\""},
      {"timestamp", "hour", "420034", "-1", "0"}, {"timestamptz", "day", "\"1969-12-31\""},
      {"timestamp", "year", "54"}, {"timestamptz", "month", "0", "null"},
      {"time", "identity", "\"22:31:08\"", "\"22:31:08.000001\"", "\"00:00:00\""},
      {"uuid", "identity", "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\""}, {"fixed[4]", "identity", "\"00010203\"", "\"FFFFFFFF\""},
      {"binary", "identity", "\"00010203\"", "\"\"", "\"FBEFBE\"", "\"FFFF\""}, {"binary", "truncate[2]", "\"FBEF\""}
    };
    for (String[] row : rows) {
      Type type = Values.type(row[0]);
      for (String name : new String[] {"p", "a b/c=d%#\u2603"}) {
        Schema schema = new Schema(Types.NestedField.optional(1, "source", type));
        PartitionSpec spec = PartitionSpec.builderFor(schema).add(1, 1000, name, Transforms.fromString(row[1])).build();
        for (int at = 2; at < row.length && (at == 2 || name.equals("p")); at++) {
          PartitionData tuple = new PartitionData(spec.partitionType());
          if (!row[at].equals("null")) {
            tuple.put(0, Values.value(spec.partitionType().fields().get(0).type(), row[at]));
          }
          cases.add(
              "schema", SchemaParser.toJson(schema), "spec", PartitionSpecParser.toJson(spec), "partition",
              "[" + row[at] + "]", "path", Json.text(spec.partitionToPath(tuple)));
        }
      }
    }
    cases.write(out, "partition_path");
  }

  private static void locations(Path out) throws Exception {
    Json cases = new Json();
    Schema schema = new Schema(Types.NestedField.optional(1, "data#1", Types.StringType.get()));
    PartitionSpec spec = PartitionSpec.builderFor(schema).identity("data#1").build();
    PartitionData tuple = new PartitionData(spec.partitionType());
    tuple.put(0, "val#1");
    String[][] tables = {
      {"s3://bucket/db/table", null}, {"s3://bucket/db/table/", null}, {"/t", null}, {"/warehouse/db/table", "/elsewhere/data"},
      {"/warehouse/db/table", "/warehouse/db/table/files/"}, {"s3://bucket/db/table", "s3://other/data"}
    };
    for (String[] table : tables) {
      for (String partitioned : new String[] {null, "true", "false"}) {
        Map<String, String> properties = new HashMap<>();
        if (table[1] != null) {
          properties.put("write.data.path", table[1]);
        }
        if (partitioned != null) {
          properties.put("write.object-storage.enabled", "true");
          properties.put("write.object-storage.partitioned-paths", partitioned);
        }
        LocationProvider provider = LocationProviders.locationsFor(table[0], properties);
        for (String file : new String[] {"a", "test.parquet", "00000-1-b9b1-00001.parquet"}) {
          String[] shared = {
            "table_location", Json.text(table[0]), "data_path", table[1] == null ? "null" : Json.text(table[1]),
            "object_storage", "" + (partitioned != null), "partitioned_paths",
            "" + !"false".equals(partitioned), "file", Json.text(file)
          };
          cases.add(concat(shared, "location", Json.text(provider.newDataLocation(file))));
          cases.add(
              concat(
                  shared, "schema", SchemaParser.toJson(schema), "spec", PartitionSpecParser.toJson(spec), "partition",
                  "[\"val#1\"]", "location", Json.text(provider.newDataLocation(spec, tuple, file))));
        }
      }
    }
    cases.write(out, "data_location");
  }

  private static String[] concat(String[] first, String... second) {
    String[] all = java.util.Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }
}
