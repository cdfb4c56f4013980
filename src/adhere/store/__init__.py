"""Where live trials are kept: one contract, in memory, in a SQLite file or in PostgreSQL."""

from adhere.store.contract import (
    Fetched,
    Head,
    LessonBlock,
    ReadTransaction,
    Record,
    Store,
    StoreError,
    Subject,
    Token,
    WriteTransaction,
)
from adhere.store.opening import open_store

__all__ = [
    "Fetched",
    "Head",
    "LessonBlock",
    "ReadTransaction",
    "Record",
    "Store",
    "StoreError",
    "Subject",
    "Token",
    "WriteTransaction",
    "open_store",
]
