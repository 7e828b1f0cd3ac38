"""Memory that goes back to the system."""

import threading

import pytest

from tb_profile_plugin.runtime import memory


def test_memory_is_let_go_once_for_all_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Semaphore(0)
    monkeypatch.setattr(memory, "_TRIM_DELAY_S", 0.05)
    monkeypatch.setattr(memory, "_libc_function", lambda function: lambda pad: done.release())
    for _ in range(2):
        for _ in range(10):
            memory.trim_heap_soon()
        assert done.acquire(timeout=10)
        assert not done.acquire(timeout=0.2)


def test_nothing_is_planned_where_the_system_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_libc_function", lambda function: None)
    threads = threading.active_count()
    memory.trim_heap_soon()
    memory.trim_heap()
    memory.keep_freed_memory()
    memory.limit_arenas()
    assert threading.active_count() == threads
