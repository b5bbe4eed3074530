//! Predicates: parse, bind, project, evaluate.
