package org.apache.iceberg;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.iceberg.avro.AvroSchemaUtil;
import org.apache.iceberg.transforms.Transform;
import org.apache.iceberg.transforms.Transforms;
import org.apache.iceberg.types.Comparators;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.util.BinaryUtil;
import org.apache.iceberg.util.BucketUtil;
import org.apache.iceberg.util.ByteBuffers;
import org.apache.iceberg.util.UnicodeUtil;

/** Transforms, hashes, single values, order, names, cut bounds. */
final class TransformVectors {
  private static final List<String> TRANSFORMS =
      List.of(
          "identity", "void", "bucket[1]", "bucket[7]", "bucket[16]", "bucket[2147483647]", "truncate[1]",
          "truncate[3]", "truncate[10]", "truncate[1000000]", "year", "month", "day", "hour");

  private TransformVectors() {}

  static void write(Path out) throws Exception {
    transforms(out);
    hashes(out);
    singleValues(out);
    order(out);
    names(out);
    bounds(out);
  }

  @SuppressWarnings("unchecked")
  private static void transforms(Path out) throws Exception {
    Json results = new Json();
    Json human = new Json();
    for (String name : TRANSFORMS) {
      for (String typeName : Values.OF_TYPE.keySet()) {
        Type type = Values.type(typeName);
        Transform<Object, Object> transform = (Transform<Object, Object>) Transforms.fromString(name);
        boolean known = transform.canTransform(type);
        if (!known) {
          results.add("transform", Json.text(name), "type", Json.text(typeName), "valid", "false");
          continue;
        }
        Type result = transform.getResultType(type);
        List<String> cases = new ArrayList<>();
        for (String json : Values.OF_TYPE.get(typeName)) {
          Object value = Values.value(type, json);
          Object applied = transform.bind(type).apply(value);
          if (applied instanceof BigDecimal && ((BigDecimal) applied).precision() > ((Types.DecimalType) type).precision()) {
            continue; // truncated below the least decimal of the type
          }
          String shown = Json.value(result, applied);
          cases.add("[" + json + ", " + shown + "]");
          boolean worthShowing = name.length() < 9 && !name.startsWith("truncate[1") && !name.equals("bucket[1]");
          if (worthShowing && !typeName.equals("float") && !typeName.equals("double")
              && !shown.equals("\"0.0000000000\"")) {
            human.add(
                "transform", Json.text(name), "type", Json.text(typeName), "result_type", Json.text(result.toString()),
                "value", shown, "text", Json.text(transform.toHumanString(result, applied)));
          }
        }
        results.add(
            "transform", Json.text(name), "type", Json.text(typeName), "result_type", Json.text(result.toString()),
            "cases", Json.array(cases));
      }
    }
    results.write(out, "transform");
    human.write(out, "human");
  }

  private static int hash(Object value) {
    if (value instanceof Boolean) {
      return BucketUtil.hash((Boolean) value ? 1 : 0);
    } else if (value instanceof Integer) {
      return BucketUtil.hash((Integer) value);
    } else if (value instanceof Long) {
      return BucketUtil.hash((Long) value);
    } else if (value instanceof Float) {
      return BucketUtil.hash((Float) value);
    } else if (value instanceof Double) {
      return BucketUtil.hash((Double) value);
    } else if (value instanceof BigDecimal) {
      return BucketUtil.hash((BigDecimal) value);
    } else if (value instanceof UUID) {
      return BucketUtil.hash((UUID) value);
    } else if (value instanceof ByteBuffer) {
      return BucketUtil.hash((ByteBuffer) value);
    }
    return BucketUtil.hash((CharSequence) value);
  }

  private static void hashes(Path out) throws Exception {
    Json hashes = new Json();
    Values.OF_TYPE.forEach(
        (typeName, values) -> {
          Type type = Values.type(typeName);
          if (typeName.endsWith("_ns")) {
            return; // hashed as microseconds by the transform, which the transforms' cases show
          }
          for (String json : values) {
            int hash = hash(Values.value(type, json));
            hashes.add("type", Json.text(typeName), "value", json, "hash", Integer.toString(hash));
          }
        });
    hashes.write(out, "hash");
  }

  static String hex(ByteBuffer bytes) {
    StringBuilder text = new StringBuilder("\"");
    for (byte one : ByteBuffers.toByteArray(bytes)) {
      text.append(String.format("%02x", one));
    }
    return text.append('"').toString();
  }

  private static void singleValues(Path out) throws Exception {
    Json values = new Json();
    Values.OF_TYPE.forEach(
        (typeName, all) -> {
          Type type = Values.type(typeName);
          for (String json : all) {
            Object value = Values.value(type, json);
            values.add(
                "type", Json.text(typeName), "value", json, "hex", hex(Conversions.toByteBuffer(type, value)), "text",
                Json.value(type, value));
          }
        });
    values.write(out, "single_value");
  }

  private static void order(Path out) throws Exception {
    Json order = new Json();
    Values.OF_TYPE.forEach(
        (typeName, all) -> {
          Type type = Values.type(typeName);
          if (typeName.equals("uuid")) {
            return; // the reference compares the halves as signed longs, the specification unsigned bytes
          }
          List<Object> values = new ArrayList<>();
          all.forEach(json -> values.add(Values.value(type, json)));
          values.sort(Comparators.forType(type.asPrimitiveType()));
          List<String> sorted = new ArrayList<>();
          values.forEach(value -> sorted.add(Json.value(type, value)));
          order.add("type", Json.text(typeName), "ascending", Json.array(sorted));
        });
    order.write(out, "order");
  }

  private static void names(Path out) throws Exception {
    Json names = new Json();
    String[] plain = {
      "a", "A9", "_", "__", "9", "99x", "a-b", "a b", "a.b.c", "-", "--", "1-", "#", "a#b", "\u00e9", "a\u00e9b",
      "\u2603", "a\u2603", "\u540d\u524d", "\ud83d\ude00", "a\ud83d\ude00", "x\u0000y", "a\tb",
      "a/b", "a\\b", "a\"b", "A_x2E", "$", "a$", "%20", "data#1", "\u00aa", "\u2160", "\u00b2", "\u0301", "a\u0301",
      "\u093f", "a\u093f", "a\u0e35", "\u24b6", "\u0663", "a\u0663", "\ud801\udc00"
    };
    for (String name : plain) {
      names.add("name", Json.text(name), "sanitized", Json.text(AvroSchemaUtil.makeCompatibleName(name)));
    }
    names.write(out, "name");
    Json parsed = new Json();
    String[] texts = {
      "identity", "Identity", "bucket[1]", "BUCKET[256]", "bucket[016]", "bucket[16] ", " bucket[16]", "bucket [16]",
      "bucket[16", "bucket16", "bucket", "truncate", "truncate[10]", "TRUNCATE[2147483647]", "year",
      "YEAR", "month", "Month", "day", "hour", "Hour", "void", "VOID", "alwaysNull", "zorder", "zorder[2]", "date",
      "dates", "", "bucket(16)", "truncate[0]", "bucket[00]", "bucket[99999999999]"
    };
    for (String text : texts) {
      try {
        parsed.add("text", Json.text(text), "name", Json.text(Transforms.fromString(text).toString()));
      } catch (RuntimeException refused) {
        parsed.add("text", Json.text(text), "valid", "false");
      }
    }
    parsed.write(out, "transform_name");
  }

  private static void bounds(Path out) throws Exception {
    Json bounds = new Json();
    String[] texts = {
      "", "a", "ab", "abc", "zz", "\u007f\u007f", "\u00ff\u00ff", "\u07ff\u07ff", "a\ud7ff\ud7ff", "\ud7ff", "\ue000x",
      "\uffff\uffff\uffff", "\udbff\udfff\udbff\udfff", "a\udbff\udfffb", "ab\udbff\udfff\udbff\udfffc",
      "\ud83d\ude02\ud83d\ude02\ud83d\ude02", "\u30a4\u30ed\u30cf\u30cb\u30db\u30d8\u30c8", "e\u0301e\u0301", "a\u0000b"
    };
    for (String text : texts) {
      for (int width : new int[] {1, 2, 3, 16}) {
        String upper = UnicodeUtil.truncateStringMax(text, width);
        bounds.add(
            "type", "\"string\"", "value", Json.text(text), "width", Integer.toString(width), "lower",
            Json.text(UnicodeUtil.truncateStringMin(text, width)), "upper", upper == null ? "null" : Json.text(upper));
      }
    }
    String[] binaries = {"", "00", "01", "ff", "ffff", "00ff", "01ff02", "ff00ff", "ffffff02", "feffff", "7f80", "0102030405"};
    for (String hex : binaries) {
      ByteBuffer value = (ByteBuffer) Values.value(Values.type("binary"), '"' + hex.toUpperCase() + '"');
      for (int width : new int[] {1, 2, 3, 16}) {
        ByteBuffer upper = BinaryUtil.truncateBinaryMax(value.duplicate(), width);
        bounds.add(
            "type", "\"binary\"", "value", Json.text(hex), "width", Integer.toString(width), "lower",
            hex(BinaryUtil.truncateBinaryMin(value.duplicate(), width)), "upper", upper == null ? "null" : hex(upper));
      }
    }
    bounds.write(out, "bound_truncation");
  }
}
