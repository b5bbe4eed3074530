package org.apache.iceberg;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.expressions.And;
import org.apache.iceberg.expressions.BoundLiteralPredicate;
import org.apache.iceberg.expressions.BoundPredicate;
import org.apache.iceberg.expressions.BoundReference;
import org.apache.iceberg.expressions.BoundSetPredicate;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.Literal;
import org.apache.iceberg.expressions.Not;
import org.apache.iceberg.expressions.Or;
import org.apache.iceberg.expressions.UnboundPredicate;
import org.apache.iceberg.types.Comparators;
import org.apache.iceberg.types.Type;

/** Predicates as the REST specification's JSON, their values as single values. */
final class Trees {
  static final Map<String, Expression.Operation> OPERATIONS =
      Map.ofEntries(
          Map.entry("lt", Expression.Operation.LT), Map.entry("lt-eq", Expression.Operation.LT_EQ),
          Map.entry("gt", Expression.Operation.GT), Map.entry("gt-eq", Expression.Operation.GT_EQ),
          Map.entry("eq", Expression.Operation.EQ), Map.entry("not-eq", Expression.Operation.NOT_EQ),
          Map.entry("in", Expression.Operation.IN), Map.entry("not-in", Expression.Operation.NOT_IN),
          Map.entry("starts-with", Expression.Operation.STARTS_WITH),
          Map.entry("not-starts-with", Expression.Operation.NOT_STARTS_WITH),
          Map.entry("is-null", Expression.Operation.IS_NULL), Map.entry("not-null", Expression.Operation.NOT_NULL),
          Map.entry("is-nan", Expression.Operation.IS_NAN), Map.entry("not-nan", Expression.Operation.NOT_NAN));

  private Trees() {}

  static String unary(String operation, String term) {
    return Json.object("type", Json.text(operation), "term", Json.text(term));
  }

  static String leaf(String operation, String term, String value) {
    return Json.object("type", Json.text(operation), "term", Json.text(term), "value", value);
  }

  static String set(String operation, String term, List<String> values) {
    return Json.object("type", Json.text(operation), "term", Json.text(term), "values", Json.array(values));
  }

  /** The predicate of one column that {@link #unary}, {@link #leaf} or {@link #set} writes. */
  static UnboundPredicate<?> predicate(String operation, String term, Type type, List<String> values) {
    Expression.Operation op = OPERATIONS.get(operation);
    if (values.isEmpty()) {
      return Expressions.predicate(op, term);
    }
    List<Object> literals = new ArrayList<>();
    // A long beside a column of nanoseconds counts microseconds, so moments are given as text there.
    boolean nanos = type.typeId() == Type.TypeID.TIMESTAMP_NANO;
    values.forEach(value -> literals.add(nanos ? value.substring(1, value.length() - 1) : Values.value(type, value)));
    if (op == Expression.Operation.IN || op == Expression.Operation.NOT_IN) {
      return Expressions.predicate(op, term, literals);
    }
    return Expressions.predicate(op, term, literals.get(0));
  }

  static String json(String operation, String term, List<String> values) {
    boolean set = operation.equals("in") || operation.equals("not-in");
    if (values.isEmpty()) {
      return unary(operation, term);
    }
    return set ? set(operation, term, values) : leaf(operation, term, values.get(0));
  }

  /** A bound predicate. */
  static String json(Expression expression) {
    switch (expression.op()) {
      case TRUE:
        return "true";
      case FALSE:
        return "false";
      case NOT:
        return Json.object("type", "\"not\"", "child", json(((Not) expression).child()));
      case AND:
        And and = (And) expression;
        return Json.object("type", "\"and\"", "left", json(and.left()), "right", json(and.right()));
      case OR:
        Or or = (Or) expression;
        return Json.object("type", "\"or\"", "left", json(or.left()), "right", json(or.right()));
      default:
        return bound((BoundPredicate<?>) expression);
    }
  }

  @SuppressWarnings("unchecked")
  private static String bound(BoundPredicate<?> predicate) {
    String operation = null;
    for (Map.Entry<String, Expression.Operation> entry : OPERATIONS.entrySet()) {
      operation = entry.getValue() == predicate.op() ? entry.getKey() : operation;
    }
    String name = ((BoundReference<?>) predicate.term()).name();
    Type type = predicate.term().type();
    if (predicate.isLiteralPredicate()) {
      Literal<?> literal = ((BoundLiteralPredicate<?>) predicate).literal();
      return leaf(operation, name, Json.value(type, literal.value()));
    } else if (predicate.isSetPredicate()) {
      List<Object> literals = new ArrayList<>(((BoundSetPredicate<Object>) predicate).literalSet());
      literals.sort(Comparators.forType(type.asPrimitiveType()));
      List<String> values = new ArrayList<>();
      literals.forEach(literal -> values.add(Json.value(type, literal)));
      return set(operation, name, values);
    }
    return unary(operation, name);
  }
}
