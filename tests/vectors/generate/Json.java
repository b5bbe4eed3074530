package org.apache.iceberg;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.types.Type;

/** Cases as lines of JSON. */
final class Json {
  private final List<String> cases = new ArrayList<>();

  /** One case: keys, each followed by its JSON text. */
  void add(String... pairs) {
    cases.add(object(pairs));
  }

  void write(Path directory, String name) throws IOException {
    String text = "[\n  " + String.join(",\n  ", cases) + "\n]\n";
    Files.writeString(directory.resolve(name + ".json"), text);
    System.out.println(name + ": " + cases.size());
  }

  static String object(String... pairs) {
    List<String> members = new ArrayList<>();
    for (int at = 0; at < pairs.length; at += 2) {
      members.add(text(pairs[at]) + ": " + pairs[at + 1]);
    }
    return "{" + String.join(", ", members) + "}";
  }

  static String array(List<String> elements) {
    return "[" + String.join(", ", elements) + "]";
  }

  static String value(Type type, Object value) {
    return value == null ? "null" : SingleValueParser.toJson(type, value);
  }

  /** A JSON string; what is not ASCII is escaped, so that lone surrogates survive too. */
  static String text(String plain) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char unit : plain.toCharArray()) {
      if (unit == '"' || unit == '\\') {
        quoted.append('\\').append(unit);
      } else if (unit < 0x20 || unit > 0x7e) {
        quoted.append(String.format("\\u%04x", (int) unit));
      } else {
        quoted.append(unit);
      }
    }
    return quoted.append('"').toString();
  }
}
