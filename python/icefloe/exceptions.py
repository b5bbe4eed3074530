"""Every exception that icefloe raises, one tree.

```
IcebergError
├── ValidationError (ValueError)               bad values, arguments, schemas, predicates
│   ├── SchemaMismatchError                    data does not fit the table
│   └── ResolveError                           a column that does not exist
├── CorruptFileError                           bytes that are not what the format says
├── FeatureUnsupportedError (NotImplementedError)
├── StorageError (OSError)
│   ├── MissingFileError (FileNotFoundError)
│   └── FileAlreadyExistsError (FileExistsError)
├── CommitFailedException                      definite: nothing was committed, safe to retry
├── CommitStateUnknownException                the outcome is unknown, nothing was cleaned up
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
├── NotInstalledError
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

NoSuchIdentifierError, NoSuchViewError, ViewAlreadyExistsError, SignError and the family of RESTError belong to catalogs
and views that icefloe does not have yet: they can be caught, and nothing raises them.

One warning: LeftoverFilesWarning (UserWarning), for a table that was dropped while files of it stay.
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
    "LeftoverFilesWarning",
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
    """Root of every exception raised on purpose by icefloe."""


class ValidationError(IcebergError, ValueError):
    """A value, an argument, a schema or a predicate is not valid."""


class SchemaMismatchError(ValidationError):
    """Data does not fit the schema of the table that it is written to."""


class ResolveError(ValidationError):
    """A name or an id resolves to no column of the schema."""


class CorruptFileError(IcebergError):
    """A file is cut off, damaged, or not what the format says."""


class FeatureUnsupportedError(IcebergError, NotImplementedError):
    """The table needs a feature that icefloe does not have; nothing was read or written in part."""


class StorageError(IcebergError, OSError):
    """Storage refused or failed an operation."""


class MissingFileError(StorageError, FileNotFoundError):
    """Nothing is stored at a location."""


class FileAlreadyExistsError(StorageError, FileExistsError):
    """Something is already stored at a location that must be new."""


class CommitFailedException(IcebergError):  # noqa: N818 - the name is shared with PyIceberg
    """The commit definitely did not happen, because the table changed underneath; safe to retry."""


class CommitStateUnknownException(IcebergError):  # noqa: N818 - the name is shared with PyIceberg
    """A commit, or another change of a catalog, may or may not have happened; no file was cleaned up. Look to find out."""


class ValidationException(IcebergError):  # noqa: N818 - the name is shared with PyIceberg
    """A commit made since this one began conflicts with it."""


class NamespaceAlreadyExistsError(IcebergError):
    """The namespace to create exists."""


class NamespaceNotEmptyError(IcebergError):
    """The namespace to drop still holds tables or namespaces."""


class NoSuchNamespaceError(IcebergError):
    """The namespace does not exist."""


class InvalidIdentifierError(ValidationError, NoSuchNamespaceError):
    """A name of a table or a namespace is empty, or a level of it is."""


class NoSuchPropertyException(IcebergError):  # noqa: N818 - the name is shared with PyIceberg
    """A property that must be set is not."""


class NoSuchTableError(IcebergError):
    """The table does not exist."""


class TableAlreadyExistsError(IcebergError):
    """The table to create exists."""


class LeftoverFilesWarning(UserWarning):
    """A table was dropped, and files of it could not be deleted.

    Attributes:
        files: ``(location, reason)`` of each file or directory that is still there.
    """

    def __init__(self, message: str, files: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.files = files


class NoSuchIcebergTableError(NoSuchTableError):
    """The table is there and is not an Iceberg table."""


class NoSuchIdentifierError(IcebergError):
    """A REST catalog does not have what an identifier names."""


class NoSuchViewError(IcebergError):
    """The view does not exist."""


class ViewAlreadyExistsError(IcebergError):
    """The view to create exists."""


class NotInstalledError(IcebergError):
    """A package that is needed is not installed."""


class SignError(IcebergError):
    """A remote service did not sign a request."""


class RESTError(IcebergError):
    """A REST catalog answered with an error."""


class BadRequestError(RESTError):
    """A REST catalog does not understand a request."""


class UnauthorizedError(RESTError):
    """A REST catalog does not accept the credentials."""


class ForbiddenError(RESTError):
    """A REST catalog does not allow the operation."""


class AuthorizationExpiredError(RESTError):
    """The credentials of a REST catalog have expired."""


class OAuthError(RESTError):
    """The server that gives tokens answered with an error."""


class ServerError(RESTError):
    """A REST catalog failed."""


class ServiceUnavailableError(RESTError):
    """A REST catalog is not available."""


class TooManyRequestsError(RESTError):
    """A REST catalog was sent too many requests."""
