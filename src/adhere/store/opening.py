"""Open a store by the name a user gives: a file's path, a PostgreSQL address, or None."""

from pathlib import Path
from types import ModuleType

from adhere.errors import StoreError
from adhere.store.database_file import check_path, followed
from adhere.store.secret_file import SecretFile
from adhere.store.sqlite import SqliteStore
from adhere.store.store import DEADLINE, Store

_POSTGRES = ("postgresql://", "postgres://")


def open_store(
    where: str | Path | None = None,
    *,
    read_only: bool = False,
    deadline: float = DEADLINE,
    secret_file: str | Path | None = None,
) -> Store:
    """Open the store in a SQLite file, at a PostgreSQL address, or in memory (None).

    If a PostgreSQL server does not answer for `deadline` seconds, the operation fails. If `secret_file` is given, the
    secrets of trials are stored there and not in the store.

    >>> with open_store().reading() as view:
    ...     view.trials()
    {}
    """
    secrets = None if secret_file is None else SecretFile(secret_file)
    store = _opened(where, read_only, deadline)
    store.secret_file = secrets
    return store


def check_place(where: str | Path, secret_file: str | Path | None = None) -> None:
    """Raise `StoreError` if the path or address cannot be a store, or if the secret file is unusable."""
    if secret_file is not None:
        SecretFile(secret_file)
    if isinstance(where, str) and where.startswith(_POSTGRES):
        _postgres().parse_url(where)
    elif isinstance(where, Path):
        check_path(followed(where), must_exist=False)


def _postgres() -> ModuleType:
    try:
        from adhere.store import postgres
    except ImportError:
        raise StoreError(
            "PostgreSQL needs a driver: pip install 'adhere[service]' "
            "(in a checkout: ./packages/adhere-client '.[service]')"
        ) from None
    return postgres


def _opened(where: str | Path | None, read_only: bool, deadline: float) -> Store:
    if where is None:
        return SqliteStore(None)
    if isinstance(where, str) and where.startswith(_POSTGRES):
        opened: Store = _postgres().PostgresStore(where, read_only=read_only, deadline=deadline)
        return opened
    if isinstance(where, str) and "://" in where:
        raise StoreError(f"{where.partition('://')[0]}:// is not supported: give a file or postgresql://…")
    return SqliteStore(Path(where), read_only=read_only)
