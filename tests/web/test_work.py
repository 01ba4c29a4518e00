"""The threads of a service: one works, and another one steps in while it is slow."""

from __future__ import annotations

import asyncio
import threading

import pytest
from starlette.exceptions import HTTPException

from lshdb.web import work as work_module
from lshdb.web.work import Work


def test_one_thread_does_all_quick_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine, a quick call may take a while.
    monkeypatch.setattr(work_module, "SLOW_SECONDS", 30.0)

    async def visit() -> set[str]:
        return set(await asyncio.gather(*(work.call(lambda: threading.current_thread().name) for _ in range(50))))

    work = Work("quick", 2, 100, 30.0)
    assert asyncio.run(visit()) == {"lshdb-quick_0"}
    work.close()


def test_a_slow_call_does_not_stop_the_others() -> None:
    async def visit() -> list[str]:
        slow = asyncio.create_task(work.call(lambda: going.wait(30)))
        await asyncio.sleep(0)
        found = [await work.call(lambda: threading.current_thread().name) for _ in range(3)]
        going.set()
        assert await slow
        return [*found, await work.call(lambda: threading.current_thread().name)]

    going, work = threading.Event(), Work("quick", 2, 100, 30.0)
    assert asyncio.run(visit()) == ["lshdb-quick-more_0"] * 3 + ["lshdb-quick_0"]
    work.close()


def test_a_call_that_nobody_waits_for_is_not_begun_and_gives_its_place_back() -> None:
    begun: list[int] = []

    async def visit() -> None:
        first = asyncio.create_task(work.call(lambda: going.wait(30)))
        await asyncio.sleep(0)
        with pytest.raises(HTTPException, match=r"no answer within 0.5 s"):
            await work.call(lambda: begun.append(1))
        with pytest.raises(HTTPException, match=r"no answer within 0.5 s"):
            await first
        going.set()
        assert await work.call(lambda: "done") == "done"

    going, work = threading.Event(), Work("quick", 1, 1, 0.5)
    asyncio.run(visit())
    work.close()
    assert begun == []


def test_errors_of_a_call_are_those_of_its_caller() -> None:
    work = Work("quick", 1, 1, 30.0)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(work.call(lambda: 1 // 0))
    work.close()
