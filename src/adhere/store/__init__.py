"""Where live trials are kept: one contract, in memory, in a SQLite file or in PostgreSQL."""

from adhere.store.contract import LessonBlock as LessonBlock
from adhere.store.contract import ReadTransaction as ReadTransaction
from adhere.store.contract import Store as Store
from adhere.store.contract import StoreError as StoreError
from adhere.store.contract import WriteTransaction as WriteTransaction
from adhere.store.opening import open_store as open_store
