package org.apache.iceberg;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/** Values of every type, as JSON single values: ordinary, negative, extreme. */
final class Values {
  static final Map<String, List<String>> OF_TYPE = new LinkedHashMap<>();

  private Values() {}

  static {
    put("boolean", "true", "false");
    put("int", "0", "1", "-1", "7", "-7", "34", "99", "100", "-100", "65536", "2147483647", "-2147483648");
    put(
        "long", "0", "1", "-1", "7", "-7", "34", "99", "100", "-100", "2147483648", "-2147483649", "123456789012345",
        "9223372036854775807", "-9223372036854775808");
    put("float", "0.0", "-0.0", "1.0", "-1.5", "3.4028235e38", "1.4e-45", "\"NaN\"", "\"Infinity\"", "\"-Infinity\"");
    put(
        "double", "0.0", "-0.0", "1.0", "-1.5", "1.7976931348623157e308", "4.9e-324", "\"NaN\"", "\"Infinity\"",
        "\"-Infinity\"");
    put(
        "decimal(9, 2)", "\"0.00\"", "\"0.01\"", "\"-0.01\"", "\"0.50\"", "\"1.27\"", "\"1.28\"", "\"-1.28\"",
        "\"-1.29\"", "\"327.67\"", "\"-327.68\"", "\"-327.69\"", "\"9999999.99\"", "\"-9999999.99\"");
    put("decimal(18, 0)", "\"0\"", "\"999999999999999999\"", "\"-999999999999999999\"", "\"-128\"", "\"255\"");
    put(
        "decimal(38, 10)", "\"0.0000000000\"", "\"1.0000000000\"", "\"-1.0000000000\"",
        "\"9999999999999999999999999999.9999999999\"", "\"-9999999999999999999999999999.9999999999\"",
        "\"922337203.6854775808\"", "\"-922337203.6854775809\"");
    put(
        "date", "\"1970-01-01\"", "\"1970-01-02\"", "\"1969-12-31\"", "\"1969-12-01\"", "\"1969-11-30\"",
        "\"1969-01-01\"", "\"1968-12-31\"", "\"2000-02-29\"", "\"2017-11-16\"", "\"2024-12-31\"", "\"1582-10-15\"",
        "\"1582-10-04\"", "\"0001-01-01\"", "\"9999-12-31\"");
    put("time", "\"00:00:00\"", "\"00:00:00.000001\"", "\"22:31:08\"", "\"23:59:59.999999\"", "\"12:00:00.5\"");
    timestamps("timestamp", "", "", "000001", "999999");
    timestamps("timestamptz", "+00:00", "", "000001", "999999");
    timestamps("timestamp_ns", "", "", "000000001", "999999999");
    timestamps("timestamptz_ns", "+00:00", "", "000000001", "999999999");
    put(
        "string", "\"\"", "\"a\"", "\"iceberg\"", "\"abcdefgh\"", "\" \"", "\"\\u00e9\"", "\"e\\u0301\"",
        "\"\\u2603\"", "\"\\ud83d\\ude00\"", "\"a\\ud83d\\ude00bcd\"", "\"\\uffff\\uffff\"",
        "\"\\u30a4\\u30ed\\u30cf\\u30cb\\u30db\\u30d8\\u30c8\"", "\"\\u0000x\"", "\"a/b=c d\"",
        "\"the quick brown fox jumps over the lazy dog\"");
    put(
        "uuid", "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"", "\"00000000-0000-0000-0000-000000000000\"",
        "\"ffffffff-ffff-ffff-ffff-ffffffffffff\"", "\"01234567-89ab-cdef-0123-456789abcdef\"");
    put("fixed[4]", "\"00000000\"", "\"00010203\"", "\"FFFFFFFF\"", "\"DEADBEEF\"");
    put("binary", "\"\"", "\"00\"", "\"00010203\"", "\"FF\"", "\"FFFFFF02\"", "\"616263646566676869\"", "\"80\"");
  }

  private static void put(String type, String... values) {
    OF_TYPE.put(type, List.of(values));
  }

  private static void timestamps(String type, String zone, String none, String first, String last) {
    put(
        type, moment("1970-01-01T00:00:00", none, zone), moment("1970-01-01T00:00:00", first, zone),
        moment("1969-12-31T23:59:59", last, zone), moment("1969-12-31T23:00:00", none, zone),
        moment("1969-12-31T22:59:59", last, zone), moment("1969-01-01T00:00:00", none, zone),
        moment("1968-12-31T23:59:59", last, zone), moment("2017-11-16T22:31:08", none, zone),
        moment("2017-12-01T10:12:55", first, zone), moment("2000-02-29T12:34:56", last, zone),
        moment("1677-09-21T00:12:44", none, zone), moment("2262-04-11T23:47:16", none, zone));
  }

  private static String moment(String seconds, String fraction, String zone) {
    return "\"" + seconds + (fraction.isEmpty() ? "" : "." + fraction) + zone + "\"";
  }

  static Type type(String name) {
    return Types.fromPrimitiveString(name);
  }

  static Object value(Type type, String json) {
    if (json.startsWith("\"") && type.typeId() == Type.TypeID.FLOAT) {
      return Float.valueOf(json.substring(1, json.length() - 1));
    } else if (json.startsWith("\"") && type.typeId() == Type.TypeID.DOUBLE) {
      return Double.valueOf(json.substring(1, json.length() - 1));
    }
    return SingleValueParser.fromJson(type, json);
  }
}
