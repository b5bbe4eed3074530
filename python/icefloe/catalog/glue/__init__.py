"""The AWS Glue catalog, which needs boto3: `pip install icefloe[glue]`."""

from icefloe.catalog.glue.glue_catalog import GlueCatalog

__all__ = ["GlueCatalog"]
