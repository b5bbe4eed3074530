package org.apache.iceberg;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.expressions.InclusiveMetricsEvaluator;
import org.apache.iceberg.expressions.ManifestEvaluator;
import org.apache.iceberg.expressions.StrictMetricsEvaluator;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/** What statistics of a file, and summaries of a manifest, say about a predicate. */
final class EvaluationVectors {
  private static final int ROWS = 50;

  private EvaluationVectors() {}

  /** Statistics of the one column x; null is "not recorded". */
  private static final class Stats {
    final String type;
    final Long nulls;
    final Long nans;
    final String lower;
    final String upper;

    Stats(String type, Long nulls, Long nans, String lower, String upper) {
      this.type = type;
      this.nulls = nulls;
      this.nans = nans;
      this.lower = lower;
      this.upper = upper;
    }

    private String bound(String json) {
      if (json == null) {
        return "null";
      }
      return TransformVectors.hex(bytes(json));
    }

    private ByteBuffer bytes(String json) {
      Type kind = Values.type(type);
      return json == null ? null : Conversions.toByteBuffer(kind, Values.value(kind, json));
    }

    String json() {
      return Json.object(
          "record_count", Integer.toString(ROWS), "value_count", nulls == null ? "null" : Integer.toString(ROWS),
          "null_count", String.valueOf(nulls), "nan_count", String.valueOf(nans), "lower", bound(lower), "upper", bound(upper));
    }

    DataFile file() {
      Map<Integer, Long> counts = nulls == null ? null : Map.of(1, (long) ROWS);
      Map<Integer, ByteBuffer> lowers = lower == null ? new HashMap<>() : Map.of(1, bytes(lower));
      Map<Integer, ByteBuffer> uppers = upper == null ? new HashMap<>() : Map.of(1, bytes(upper));
      Metrics metrics =
          new Metrics(
              (long) ROWS, null, counts, nulls == null ? null : Map.of(1, nulls),
              nans == null ? null : Map.of(1, nans), lowers, uppers);
      return DataFiles.builder(PartitionSpec.unpartitioned())
          .withPath("x.parquet").withFormat("parquet").withFileSizeInBytes(1).withMetrics(metrics).build();
    }
  }

  private static final List<Stats> FILES =
      List.of(
          new Stats("int", 0L, null, "10", "20"), new Stats("int", 5L, null, "10", "20"),
          new Stats("int", 0L, null, "15", "15"), new Stats("int", 50L, null, null, null),
          new Stats("int", 5L, null, "15", "15"), new Stats("int", null, null, null, null),
          new Stats("int", null, null, "10", "20"), new Stats("long", 0L, null, "-3", "2147483648"),
          new Stats("double", 0L, 0L, "1.5", "2.5"), new Stats("double", 0L, 50L, null, null),
          new Stats("double", 0L, 3L, "1.5", "2.5"), new Stats("double", 5L, 0L, "2.0", "2.0"),
          new Stats("double", 0L, null, "1.5", "2.5"), new Stats("string", 0L, null, "\"abc\"", "\"abd\""),
          new Stats("string", 3L, null, "\"abc\"", "\"abcz\""), new Stats("string", 0L, null, "\"ab\"", "\"ab\""),
          new Stats("date", 0L, null, "\"1969-12-30\"", "\"1970-01-02\""),
          new Stats("decimal(9, 2)", 0L, null, "\"-1.28\"", "\"1.28\""),
          new Stats("binary", 0L, null, "\"7F\"", "\"80\""), new Stats("boolean", 0L, null, "false", "true"),
          new Stats("boolean", 0L, null, "true", "true"));

  private static final Map<String, List<String>> LITERALS =
      Map.of(
          "int", List.of("9", "10", "15", "20", "21"), "long", List.of("-4", "-3", "2147483649"), "double",
          List.of("1.0", "1.5", "2.0", "3.0"), "string",
          List.of("\"\"", "\"a\"", "\"ab\"", "\"abc\"", "\"abcd\"", "\"abda\"", "\"b\""), "date",
          List.of("\"1969-12-29\"", "\"1970-01-01\"", "\"1970-01-03\""), "decimal(9, 2)",
          List.of("\"-1.29\"", "\"-1.28\"", "\"0.00\"", "\"1.29\""), "binary", List.of("\"7E\"", "\"80\"", "\"81\""),
          "boolean", List.of("true", "false"));

  static void write(Path out) throws Exception {
    Json metrics = new Json();
    for (Stats stats : FILES) {
      Type type = Values.type(stats.type);
      Schema schema = new Schema(Types.NestedField.optional(1, "x", type));
      DataFile file = stats.file();
      List<String> cases = new ArrayList<>();
      for (String[] parts : predicates(stats.type)) {
        List<String> values = List.of(parts).subList(1, parts.length);
        Expression predicate = Trees.predicate(parts[0], "x", type, values);
        boolean might = new InclusiveMetricsEvaluator(schema, predicate).eval(file);
        boolean must = new StrictMetricsEvaluator(schema, predicate).eval(file);
        // The reference takes an unknown count of NaN for none.
        boolean guessed = stats.type.equals("double") && stats.nans == null;
        cases.add(
            Json.object(
                "predicate", Trees.json(parts[0], "x", values), "might", "" + might, "must", guessed ? "null" : "" + must));
      }
      metrics.add("type", Json.text(stats.type), "stats", stats.json(), "cases", "[\n    " + String.join(",\n    ", cases) + "]");
    }
    metrics.write(out, "file_metrics");
    manifests(out);
  }

  private static List<String[]> predicates(String type) {
    List<String[]> all = new ArrayList<>();
    List<String> literals = LITERALS.get(type);
    for (String literal : literals) {
      for (String operation : new String[] {"lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq"}) {
        all.add(new String[] {operation, literal});
      }
      if (type.equals("string")) {
        all.add(new String[] {"starts-with", literal});
        all.add(new String[] {"not-starts-with", literal});
      }
    }
    for (String operation : new String[] {"in", "not-in"}) {
      all.add(new String[] {operation, literals.get(0), literals.get(1)});
      all.add(new String[] {operation, literals.get(literals.size() - 2), literals.get(literals.size() - 1)});
    }
    all.add(new String[] {"is-null"});
    all.add(new String[] {"not-null"});
    if (type.equals("double")) {
      all.add(new String[] {"is-nan"});
      all.add(new String[] {"not-nan"});
    }
    return all;
  }

  private static void manifests(Path out) throws Exception {
    Json cases = new Json();
    Object[][] summaries = {
      {"int", false, false, "10", "20"}, {"int", true, false, "10", "20"}, {"int", true, false, null, null},
      {"int", false, false, "15", "15"}, {"int", true, false, "15", "15"}, {"double", false, false, "1.5", "2.5"},
      {"double", false, true, "1.5", "2.5"}, {"double", false, true, null, null}, {"double", true, false, null, null},
      {"double", true, true, null, null}, {"string", false, false, "\"abc\"", "\"abd\""},
      {"string", true, false, "\"ab\"", "\"ab\""}, {"string", false, false, "\"ab\"", "\"abz\""},
      {"date", false, false, "\"1969-12-30\"", "\"1970-01-02\""}, {"decimal(9, 2)", false, false, "\"-1.28\"", "\"1.28\""},
      {"binary", false, false, "\"7F\"", "\"80\""}, {"boolean", false, false, "true", "true"}
    };
    for (Object[] row : summaries) {
      Stats bounds = new Stats((String) row[0], null, null, (String) row[3], (String) row[4]);
      Type type = Values.type(bounds.type);
      Schema schema = new Schema(Types.NestedField.optional(1, "x", type));
      PartitionSpec spec = PartitionSpec.builderFor(schema).identity("x").build();
      ManifestFile.PartitionFieldSummary summary =
          new GenericPartitionFieldSummary((Boolean) row[1], (Boolean) row[2], bounds.bytes(bounds.lower), bounds.bytes(bounds.upper));
      ManifestFile manifest =
          new GenericManifestFile(
              "m.avro", 1, 0, ManifestContent.DATA, 1, 1, 1L, List.of(summary), null, 1, 1L, 0, 0L, 0, 0L, null);
      List<String> answers = new ArrayList<>();
      for (String[] parts : predicates(bounds.type)) {
        List<String> values = List.of(parts).subList(1, parts.length);
        Expression predicate = Trees.predicate(parts[0], "x", type, values);
        boolean might = ManifestEvaluator.forRowFilter(predicate, spec, true).eval(manifest);
        answers.add(Json.object("predicate", Trees.json(parts[0], "x", values), "might", "" + might));
      }
      cases.add(
          "type", Json.text(bounds.type), "summary",
          Json.object(
              "contains_null", "" + row[1], "contains_nan", "" + row[2], "lower", bounds.bound(bounds.lower), "upper",
              bounds.bound(bounds.upper)),
          "cases", "[\n    " + String.join(",\n    ", answers) + "]");
    }
    cases.write(out, "manifest_summary");
  }
}
