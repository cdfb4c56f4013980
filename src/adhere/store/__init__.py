"""Store live trials. One contract has three implementations: in memory, in a SQLite file, and in PostgreSQL."""

from adhere.errors import OutcomeUnknownError as OutcomeUnknownError
from adhere.errors import RecordsLostError as RecordsLostError
from adhere.errors import StoreBusyError as StoreBusyError
from adhere.errors import StoreError as StoreError
from adhere.errors import StoreUnavailableError as StoreUnavailableError
from adhere.store.opening import check_place as check_place
from adhere.store.opening import open_store as open_store
from adhere.store.records import Fetched as Fetched
from adhere.store.records import Head as Head
from adhere.store.records import Installation as Installation
from adhere.store.records import Record as Record
from adhere.store.records import Subject as Subject
from adhere.store.records import Token as Token
from adhere.store.records import UpdateBlock as UpdateBlock
from adhere.store.store import DEADLINE as DEADLINE
from adhere.store.store import Store as Store
from adhere.store.transactions import ReadTransaction as ReadTransaction
from adhere.store.transactions import WriteTransaction as WriteTransaction
