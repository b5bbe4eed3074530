package org.apache.iceberg;

import java.nio.file.Path;

/** Writes the vectors that the Java reference gives; in its package, for what it shows to nobody else. */
public final class Generate {
  private Generate() {}

  public static void main(String[] arguments) throws Exception {
    Path out = java.nio.file.Files.createDirectories(Path.of(arguments[0]));
    TransformVectors.write(out);
    ProjectionVectors.write(out);
    EvaluationVectors.write(out);
    LayoutVectors.write(out);
    DeleteVectors.write(out);
    ParseVectors.write(Path.of(arguments[1]), out);
    Goldens.write(java.nio.file.Files.createDirectories(Path.of(arguments[2])));
  }
}
