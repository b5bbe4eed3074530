"""Functions over Arrow batches in Spark's workers."""

import pytest
from icefloe.exceptions import NotInstalledError
from icefloe.spark.writer.arrow_map import worker_errors
from pyspark.errors import PySparkException


@pytest.mark.parametrize("package", ["icefloe", "pyarrow", "numpy", "pydantic"])
def test_missing_package_of_a_worker_is_named(package):
    with (
        pytest.raises(NotInstalledError, match=f"got one that has no package {package}; install icefloe there"),
        worker_errors(),
    ):
        raise PySparkException(f"Traceback\n  File ...\nModuleNotFoundError: No module named '{package}'\n")


def test_missing_package_of_a_user_is_an_error_of_spark():
    with pytest.raises(PySparkException, match="'own_package'"), worker_errors():
        raise PySparkException("ModuleNotFoundError: No module named 'own_package'")
