"""The shipped contract suite on the stores of this package."""

import pytest

from holdfast.store.sqlite.store import SqliteStore
from holdfast.testing.store_contract import StoreContract


class TestInMemory(StoreContract):
    @pytest.fixture
    def store(self):
        opened = SqliteStore("", durability="full", read_only=False, version="0.1.0")
        yield opened
        opened.close()


class TestSqlite(StoreContract):
    @pytest.fixture(params=["full", "normal"])
    def store(self, request, tmp_path):
        path = tmp_path / "agent.db"
        opened = SqliteStore(path, durability=request.param, read_only=False, version="0.1.0")
        yield opened
        opened.close()
