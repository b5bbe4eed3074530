"""The exceptions of icefloe, in one tree.

```
IcebergError
├── ValidationError (ValueError)               bad values, arguments, schemas, predicates
│   ├── SchemaMismatchError                    data does not fit the table
│   └── ResolveError                           a column that does not exist
├── CorruptFileError                           bytes that violate the format
│   └── InvalidMetadataError                   JSON that breaks a rule of table metadata
├── FeatureUnsupportedError (NotImplementedError)
├── StorageError (OSError)
│   ├── MissingFileError (FileNotFoundError)
│   └── FileAlreadyExistsError (FileExistsError)
├── CommitFailedException                      nothing was committed, safe to retry
├── CommitStateUnknownException                the outcome is unknown, no file was deleted
├── ValidationException                        a concurrent commit conflicts with this one
├── NamespaceAlreadyExistsError
├── NamespaceNotEmptyError
├── NoSuchNamespaceError
│   └── InvalidIdentifierError (ValidationError)  an empty name
├── NoSuchPropertyException
├── NoSuchTableError
│   └── NoSuchIcebergTableError
├── NoSuchIdentifierError
├── NoSuchViewError
├── NotInstalledError (ImportError)
├── RESTError
│   ├── AuthorizationExpiredError
│   ├── BadRequestError
│   ├── ForbiddenError
│   ├── OAuthError
│   ├── ServerError
│   ├── ServiceUnavailableError
│   ├── TooManyRequestsError
│   └── UnauthorizedError
├── SignError
├── ViewAlreadyExistsError
└── TableAlreadyExistsError
```

NoSuchIdentifierError, ViewAlreadyExistsError and SignError exist for `except` clauses, and nothing raises them.

Two warnings: LeftoverFilesWarning (UserWarning), for a dropped table whose files could not all be deleted, and MetadataWarning
(UserWarning), for table metadata that deviates from the specification and is read all the same.
"""

from __future__ import annotations

__all__ = [
    "AuthorizationExpiredError",
    "BadRequestError",
    "CommitFailedException",
    "CommitStateUnknownException",
    "CorruptFileError",
    "FeatureUnsupportedError",
    "FileAlreadyExistsError",
    "ForbiddenError",
    "IcebergError",
    "InvalidIdentifierError",
    "InvalidMetadataError",
    "LeftoverFilesWarning",
    "MetadataWarning",
    "MissingFileError",
    "NamespaceAlreadyExistsError",
    "NamespaceNotEmptyError",
    "NoSuchIcebergTableError",
    "NoSuchIdentifierError",
    "NoSuchNamespaceError",
    "NoSuchPropertyException",
    "NoSuchTableError",
    "NoSuchViewError",
    "NotInstalledError",
    "OAuthError",
    "RESTError",
    "ResolveError",
    "SchemaMismatchError",
    "ServerError",
    "ServiceUnavailableError",
    "SignError",
    "StorageError",
    "TableAlreadyExistsError",
    "TooManyRequestsError",
    "UnauthorizedError",
    "ValidationError",
    "ValidationException",
    "ViewAlreadyExistsError",
]


class IcebergError(Exception):
    """The base class of the exceptions of icefloe."""


class ValidationError(IcebergError, ValueError):
    """A value, an argument, a schema or a predicate is not valid."""


class SchemaMismatchError(ValidationError):
    """Data does not fit the schema of the table that it is written to."""


class ResolveError(ValidationError):
    """A schema has no column of a name or field id, or several columns of a name when case is ignored."""


class CorruptFileError(IcebergError):
    """A file is truncated, damaged, or violates its format."""


class InvalidMetadataError(CorruptFileError):
    """Table metadata is JSON, but breaks a rule of the specification; the file is not damaged, its writer was wrong."""


class MetadataWarning(UserWarning):
    """Table metadata deviates from the specification in a way that loses nothing, and is read all the same."""


class FeatureUnsupportedError(IcebergError, NotImplementedError):
    """The table or the operation needs a feature that icefloe does not have; nothing was changed."""


class StorageError(IcebergError, OSError):
    """An operation of the storage failed or was refused."""


class MissingFileError(StorageError, FileNotFoundError):
    """No file exists at a location."""


class FileAlreadyExistsError(StorageError, FileExistsError):
    """A file exists at a location that must be new."""


class CommitFailedException(IcebergError):  # noqa: N818 - the name is shared with PyIceberg
    """The commit did not happen, because another writer changed the table; safe to retry."""


class CommitStateUnknownException(IcebergError):  # noqa: N818 - the name is shared with PyIceberg
    """The outcome of a commit or another catalog change is unknown; no file was deleted. Reload the table to find out."""


class ValidationException(IcebergError):  # noqa: N818 - the name is shared with PyIceberg
    """A concurrent commit conflicts with this commit."""


class NamespaceAlreadyExistsError(IcebergError):
    """The namespace to create already exists."""


class NamespaceNotEmptyError(IcebergError):
    """The namespace to drop contains tables or namespaces."""


class NoSuchNamespaceError(IcebergError):
    """The namespace does not exist."""


class InvalidIdentifierError(ValidationError, NoSuchNamespaceError):
    """The name of a table or a namespace, or a level of the name, is empty."""


class NoSuchPropertyException(IcebergError):  # noqa: N818 - the name is shared with PyIceberg
    """A required property is not set."""


class NoSuchTableError(IcebergError):
    """The table does not exist."""


class TableAlreadyExistsError(IcebergError):
    """The table to create already exists."""


class LeftoverFilesWarning(UserWarning):
    """A table was dropped, and some of its files could not be deleted.

    Attributes:
        files: ``(location, reason)`` of each remaining file or directory.
    """

    def __init__(self, message: str, files: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.files = files


class NoSuchIcebergTableError(NoSuchTableError):
    """The table exists and is not an Iceberg table."""


class NoSuchIdentifierError(IcebergError):
    """A REST catalog has no object of an identifier."""


class NoSuchViewError(IcebergError):
    """The view does not exist."""


class ViewAlreadyExistsError(IcebergError):
    """The view to create already exists."""


class NotInstalledError(IcebergError, ImportError):
    """An optional package that the call needs is not installed; the message has the command that installs it."""


class SignError(IcebergError):
    """A remote service did not sign a request."""


class RESTError(IcebergError):
    """A REST catalog returned an error."""


class BadRequestError(RESTError):
    """A REST catalog rejected a request as malformed."""


class UnauthorizedError(RESTError):
    """A REST catalog rejected the credentials."""


class ForbiddenError(RESTError):
    """A REST catalog denied the operation."""


class AuthorizationExpiredError(RESTError):
    """The credentials of a REST catalog have expired."""


class OAuthError(RESTError):
    """The OAuth token server returned an error."""


class ServerError(RESTError):
    """A REST catalog returned a server error."""


class ServiceUnavailableError(RESTError):
    """A REST catalog is not available."""


class TooManyRequestsError(RESTError):
    """A REST catalog rejected a request because of its rate limit."""
