package org.apache.iceberg;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.expressions.Binder;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.Projections;
import org.apache.iceberg.expressions.ResidualEvaluator;
import org.apache.iceberg.transforms.Transforms;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/** Projections of single predicates through every transform; residuals; binding. */
final class ProjectionVectors {
  /** A type's transforms; then the values of its predicates, none of which over- or underflows by one. */
  private static final Map<String, List<List<String>>> CASES = new LinkedHashMap<>();

  private ProjectionVectors() {}

  static {
    put("int", List.of("identity", "bucket[7]", "truncate[10]", "void"), "0", "-1", "99", "-100");
    put("long", List.of("bucket[16]", "truncate[3]"), "0", "-1", "2147483648");
    put("decimal(9, 2)", List.of("bucket[7]", "truncate[50]"), "\"0.00\"", "\"-0.01\"", "\"10.65\"");
    put(
        "date", List.of("year", "month", "day", "bucket[7]"), "\"1970-01-01\"", "\"1969-12-31\"", "\"1969-01-01\"",
        "\"2017-12-01\"", "\"2017-12-31\"");
    put(
        "timestamp", List.of("year", "month", "day", "hour"), "\"1970-01-01T00:00:00\"",
        "\"1969-12-31T23:59:59.999999\"", "\"1969-01-01T00:00:00\"", "\"2017-12-01T10:12:55.038194\"");
    put(
        "timestamptz", List.of("day", "hour", "bucket[7]"), "\"1970-01-01T00:00:00+00:00\"",
        "\"1969-12-31T23:59:59.999999+00:00\"", "\"2017-12-31T23:59:59.999999+00:00\"");
    put(
        "timestamp_ns", List.of("month", "day", "hour"), "\"1970-01-01T00:00:00\"",
        "\"1969-12-31T23:59:59.999999999\"", "\"2017-12-01T00:00:00\"");
    put(
        "string", List.of("identity", "bucket[7]", "truncate[3]"), "\"ab\"", "\"abc\"", "\"abcdef\"", "\"\\u2603\"");
    put("binary", List.of("truncate[2]", "bucket[7]"), "\"00\"", "\"0102\"", "\"FFFFFF\"");
    put("uuid", List.of("bucket[16]"), "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"", "\"01234567-89ab-cdef-0123-456789abcdef\"");
    put("double", List.of("identity"), "1.5", "-0.5");
  }

  private static void put(String type, List<String> transforms, String... values) {
    CASES.put(type, List.of(transforms, List.of(values)));
  }

  static void write(Path out) throws Exception {
    projections(out);
    residuals(out);
    bindings(out);
  }

  private static void projections(Path out) throws Exception {
    Json cases = new Json();
    CASES.forEach(
        (typeName, lists) -> {
          Type type = Values.type(typeName);
          Schema schema = new Schema(Types.NestedField.optional(1, "x", type));
          for (String transform : lists.get(0)) {
            PartitionSpec spec =
                PartitionSpec.builderFor(schema).add(1, 1000, "p", Transforms.fromString(transform)).build();
            for (String operation : new String[] {"lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq"}) {
              for (String value : lists.get(1)) {
                project(cases, spec, typeName, transform, operation, List.of(value));
              }
            }
            project(cases, spec, typeName, transform, "in", lists.get(1));
            project(cases, spec, typeName, transform, "not-in", lists.get(1));
            project(cases, spec, typeName, transform, "is-null", List.of());
            project(cases, spec, typeName, transform, "not-null", List.of());
            if (typeName.equals("string")) {
              for (String value : lists.get(1)) {
                project(cases, spec, typeName, transform, "starts-with", List.of(value));
                project(cases, spec, typeName, transform, "not-starts-with", List.of(value));
              }
            } else if (typeName.equals("double")) {
              project(cases, spec, typeName, transform, "is-nan", List.of());
              project(cases, spec, typeName, transform, "not-nan", List.of());
            }
          }
        });
    cases.write(out, "projection");
  }

  private static void project(
      Json cases, PartitionSpec spec, String type, String transform, String operation, List<String> values) {
    Expression predicate = Trees.predicate(operation, "x", Values.type(type), values);
    Types.StructType partition = spec.partitionType();
    cases.add(
        "type", Json.text(type), "transform", Json.text(transform), "predicate", Trees.json(operation, "x", values),
        "inclusive", Trees.json(Binder.bind(partition, Projections.inclusive(spec).project(predicate), true)),
        "strict", Trees.json(Binder.bind(partition, Projections.strict(spec).project(predicate), true)));
  }

  private static void residuals(Path out) throws Exception {
    Json cases = new Json();
    Schema schema =
        new Schema(
            Types.NestedField.optional(1, "id", Types.LongType.get()),
            Types.NestedField.optional(2, "at", Types.TimestampType.withoutZone()),
            Types.NestedField.optional(3, "name", Types.StringType.get()));
    PartitionSpec spec =
        PartitionSpec.builderFor(schema)
            .identity("id")
            .add(2, 1001, "at_day", Transforms.fromString("day"))
            .add(3, 1002, "name_trunc", Transforms.fromString("truncate[3]"))
            .build();
    String[] tuples = {
      "[5, \"2017-12-01\", \"abc\"]", "[6, \"1969-12-31\", \"abd\"]", "[7, \"2017-12-02\", \"ab\"]"
    };
    String[][] leaves = {
      {"eq", "id", "5"}, {"lt", "id", "6"}, {"gt-eq", "id", "6"}, {"not-eq", "id", "7"}, {"in", "id", "5", "6"},
      {"not-in", "id", "5", "6"}, {"is-null", "id"}, {"not-null", "name"}, {"lt", "at", "\"2017-12-01T12:00:00\""},
      {"gt-eq", "at", "\"2017-12-01T00:00:00\""}, {"gt-eq", "at", "\"2017-12-02T00:00:00\""},
      {"lt-eq", "at", "\"2017-12-01T23:59:59.999999\""}, {"eq", "at", "\"2017-12-01T12:00:00\""},
      {"eq", "name", "\"abcdef\""}, {"eq", "name", "\"ab\""}, {"lt", "name", "\"abd\""}, {"gt", "name", "\"abca\""},
      {"starts-with", "name", "\"ab\""}, {"starts-with", "name", "\"abcd\""}, {"not-starts-with", "name", "\"abd\""}
    };
    List<Expression> expressions = new ArrayList<>();
    List<String> texts = new ArrayList<>();
    for (String[] parts : leaves) {
      List<String> values = List.of(parts).subList(2, parts.length);
      expressions.add(Trees.predicate(parts[0], parts[1], schema.findType(parts[1]), values));
      texts.add(Trees.json(parts[0], parts[1], values));
    }
    int single = leaves.length;
    for (int at = 0; at < single; at++) {
      int other = (at * 7 + 3) % single;
      expressions.add(Expressions.and(expressions.get(at), expressions.get(other)));
      texts.add(Json.object("type", "\"and\"", "left", texts.get(at), "right", texts.get(other)));
      expressions.add(Expressions.or(expressions.get(at), expressions.get(other)));
      texts.add(Json.object("type", "\"or\"", "left", texts.get(at), "right", texts.get(other)));
    }
    for (String tuple : tuples) {
      PartitionData partition = tuple(spec, tuple);
      for (int at = 0; at < expressions.size(); at++) {
        Expression residual = ResidualEvaluator.of(spec, expressions.get(at), true).residualFor(partition);
        cases.add(
            "predicate", texts.get(at), "partition", tuple, "residual",
            Trees.json(Binder.bind(schema.asStruct(), residual, true)));
      }
    }
    cases.write(out, "residual");
  }

  /** A tuple from its JSON; none of the values has a comma. */
  static PartitionData tuple(PartitionSpec spec, String json) {
    PartitionData partition = new PartitionData(spec.partitionType());
    String[] values = json.substring(1, json.length() - 1).split(", ");
    for (int at = 0; at < spec.fields().size(); at++) {
      Type type = spec.partitionType().fields().get(at).type();
      if (!values[at].equals("null")) {
        partition.put(at, Values.value(type, values[at]));
      }
    }
    return partition;
  }

  /**
   * Literals of another type than the column's, and predicates that binding decides. Not doubles beyond the finite
   * floats: the reference calls everything less than them, infinity too.
   */
  private static void bindings(Path out) throws Exception {
    Json cases = new Json();
    Object[][] literals = {
      {"int", 5L, 2147483647L, 2147483648L, -2147483649L, -2147483648L}, {"long", 5L, -9223372036854775808L},
      {"float", 1.5, 1L}, {"double", 1.5, 7L}, {"decimal(9, 2)", 5L, 1.25, 12.5},
      {"date", "2017-11-16", "1969-12-31"}, {"time", "22:31:08", "22:31:08.000001"},
      {"timestamp", "2017-11-16T22:31:08", "2017-11-16T22:31:08.123456"},
      {"timestamptz", "2017-11-16T22:31:08+00:00", "2017-11-16T14:31:08-08:00"},
      {"timestamp_ns", "2017-11-16T22:31:08.000000001"}, {"uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
      {"decimal(9, 2)", "12.34", "-0.05"}, {"string", "x", ""}
    };
    for (Object[] row : literals) {
      Schema schema = new Schema(Types.NestedField.optional(1, "x", Values.type((String) row[0])));
      for (String operation : new String[] {"lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq"}) {
        for (int at = 1; at < row.length; at++) {
          String value = row[at] instanceof String ? Json.text((String) row[at]) : row[at].toString();
          Expression predicate = Expressions.predicate(Trees.OPERATIONS.get(operation), "x", row[at]);
          cases.add(
              "type", Json.text((String) row[0]), "predicate", Trees.leaf(operation, "x", value), "bound",
              Trees.json(Binder.bind(schema.asStruct(), predicate, true)));
        }
      }
    }
    sets(cases);
    cases.write(out, "bind");
  }

  private static void sets(Json cases) {
    Schema schema = new Schema(Types.NestedField.required(1, "x", Types.IntegerType.get()));
    List<List<Long>> sets = List.of(List.of(5L), List.of(5L, 5L), List.of(5L, 3L), List.of(5L, 2147483648L), List.of(2147483648L));
    for (String operation : new String[] {"in", "not-in"}) {
      for (List<Long> set : sets) {
        List<String> values = new ArrayList<>();
        set.forEach(value -> values.add(value.toString()));
        Expression predicate = Expressions.predicate(Trees.OPERATIONS.get(operation), "x", new ArrayList<Object>(set));
        cases.add(
            "type", "\"int\"", "required", "true", "predicate", Trees.set(operation, "x", values), "bound",
            Trees.json(Binder.bind(schema.asStruct(), predicate, true)));
      }
    }
    for (String operation : new String[] {"is-null", "not-null"}) {
      Expression predicate = Expressions.predicate(Trees.OPERATIONS.get(operation), "x");
      cases.add(
          "type", "\"int\"", "required", "true", "predicate", Trees.unary(operation, "x"), "bound",
          Trees.json(Binder.bind(schema.asStruct(), predicate, true)));
    }
  }
}
