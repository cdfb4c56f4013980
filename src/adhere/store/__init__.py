"""Where live trials are kept: one contract, in memory, in a SQLite file or in PostgreSQL."""

from adhere.errors import StoreError
from adhere.store.opening import open_store
from adhere.store.records import Fetched, Head, LessonBlock, Record, Subject, Token
from adhere.store.store import Store
from adhere.store.transactions import ReadTransaction, WriteTransaction

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
