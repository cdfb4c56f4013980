"""Where live trials are kept: one contract, in memory, in a SQLite file or in PostgreSQL."""

from adhere.store.contract import Found, Head, Reading, Record, Store, StoreError, Subject, Token, Writing
from adhere.store.opening import open_store

__all__ = [
    "Found",
    "Head",
    "Reading",
    "Record",
    "Store",
    "StoreError",
    "Subject",
    "Token",
    "Writing",
    "open_store",
]
