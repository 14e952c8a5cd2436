"""Joining a Dask cluster: by its address, or so many processes of this machine."""

from __future__ import annotations

import asyncio
import logging
import pickle
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from typing import Any, NamedTuple

from core import clock
from core.errors import InputError, RubricStudioError
from core.services.runs.cluster.credit import Counts
from core.services.runs.cluster.orders import News, Versions
from core.services.runs.cluster.remote import put_down, versions

log = logging.getLogger(__name__)
#: How long a scheduler may be away, in seconds; how long workers may take to come at first, and a
#: scheduler to answer.
PATIENCE, FIRST_WORKERS, CONNECT = 30.0, 60.0, 10.0
LOOK_EVERY = 0.2
#: A worker that the scheduler has not heard of for so many seconds is given up. Its event loop
#: speaks to the scheduler every few seconds, however long the calls take that it waits for.
SILENT = 30.0
ALL_SILENT = (
    "No worker of the cluster moves any more. What was answered is kept; start them again and "
    "resume the run, on the cluster or without."
)
#: More processes than this on one machine are a slip of the pen.
MOST_LOCAL = 256


class ClusterGone(RubricStudioError):
    """The scheduler of a cluster is gone, or no worker is left."""


class Where(NamedTuple):
    """A cluster's address, or so many workers on this machine (then the address is empty)."""

    address: str
    local: int


def read(where: str) -> Where:
    """What was asked for.

    Raises:
        InputError: it is neither an address nor ``local:N``.

    >>> read("local:4"), read("tcp://10.0.0.5:8786").address
    (Where(address='', local=4), 'tcp://10.0.0.5:8786')
    """
    if found := re.fullmatch(r"local:(\d{1,6})", where.strip()):
        if 1 <= int(found[1]) <= MOST_LOCAL:
            return Where("", int(found[1]))
        raise InputError(f"A local cluster has 1 to {MOST_LOCAL} workers, not {found[1]}.")
    if re.fullmatch(r"(tcp|tls|ws|wss|ucx)://\S+", where.strip()):
        return Where(where.strip(), 0)
    raise InputError(
        f"The cluster is {where!r}; use tcp://HOST:PORT (a Dask scheduler) or local:N (so many "
        "processes of this machine)."
    )


def require(where: str) -> None:
    """Refuses what names no cluster, and any where Dask is not installed (``InputError``)."""
    read(where)
    _dask()


def _dask() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError(
            "A cluster needs Dask: install rubric-studio[cluster] here and on every worker."
        ) from None
    # It also tells of every connection that ends, with a traceback.
    logging.getLogger("distributed").setLevel(logging.ERROR)
    logging.getLogger("distributed.client").addFilter(_not_left)
    return distributed


def _not_left(record: logging.LogRecord) -> bool:
    """Leaving while Dask looks for its scheduler is no error, though it logs that as one."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


class Cluster:
    """A cluster that was joined. Use it on the event loop that joined it."""

    def __init__(self, client: Any, topic: str) -> None:
        self.client, self.topic = client, topic
        self._listeners: dict[str, Callable[[News], None]] = {}
        self.known: dict[str, bool] = {}
        self._seen, self._there = float("-inf"), list[str]()
        self._away_since: float | None = None
        self._silence = Silence()

    @property
    def dashboard(self) -> str:
        """The address of Dask's own pages about the cluster; empty where it has none."""
        return str(self.client.dashboard_link or "") if _has_dashboard() else ""

    def told(self) -> dict[str, Any]:
        """What is kept of it with a run: its address, how many asked, and where to look at it."""
        workers = sum(self.known.values())
        return {
            "address": self.client.scheduler.address,
            "workers": workers,
            "dashboard": self.dashboard,
        }

    @property
    def closed(self) -> bool:
        """Whether it was left, or given up."""
        return bool(self.client.status == "closed")

    @contextmanager
    def listening(self, token: str, heard: Callable[[News], None]) -> Iterator[None]:
        """``heard`` gets what workers send about a run."""
        self._listeners[token] = heard
        try:
            yield
        finally:
            del self._listeners[token]

    def hear(self, event: tuple[float, bytes]) -> None:
        """An event of this owner's topic."""
        news = pickle.loads(event[1])
        assert isinstance(news, News)
        if news.token in self._listeners:
            self._listeners[news.token](news)

    async def workers(self) -> list[str]:
        """The addresses of the workers that fit, none while the scheduler is away.

        The scheduler is asked again after ``LOOK_EVERY``: news comes many times as often.

        Raises:
            ClusterGone: it has been away for too long, or closed; or all that fit are silent.
        """
        loop = asyncio.get_running_loop()
        if self.client.status == "running":
            self._away_since = None
            if loop.time() - self._seen < LOOK_EVERY:
                return self._there
            try:
                found = await self.client.scheduler.identity(n_workers=-1)
            except (OSError, ValueError) as error:
                log.info("The scheduler could not be asked for its workers: %s", error)
                return []
            silent = self._silence.seen(
                {str(one): told["last_seen"] for one, told in found["workers"].items()}, loop.time()
            )
            workers = [str(one) for one in found["workers"] if str(one) not in silent]
            await self._check([one for one in workers if one not in self.known])
            self._there = [one for one in workers if self.known.get(one)]
            self._seen = loop.time()
            if not self._there and any(self.known.get(one) for one in silent):
                raise ClusterGone(ALL_SILENT)
            return self._there
        self._away_since = self._away_since or loop.time()
        if self.client.status == "closed" or loop.time() - self._away_since > PATIENCE:
            raise ClusterGone(
                "The scheduler of the cluster is gone. What was answered is kept; start it again "
                "and resume the run, on the cluster or without."
            )
        return []

    async def _check(self, new: list[str]) -> None:
        """Workers of another version are not asked, and that is said once."""
        if not new:
            return
        ours = _ours()
        try:
            asked = self.client.run(versions, workers=new, on_error="return")
            theirs = await asyncio.wait_for(asked, SILENT)
        except TimeoutError:
            log.warning("New workers of the cluster do not answer yet: %s.", ", ".join(new))
            return
        for address in new:
            told = theirs.get(address)
            self.known[address] = told == ours
            if told != ours:
                words = getattr(told, "words", f"no Rubric Studio ({type(told).__name__})")
                log.warning(
                    "Worker %s has %s, and this is %s: it is not asked.", address, words, ours.words
                )

    def failed(self, task: Any) -> RubricStudioError:
        """Why a chunk could not be asked at all."""
        error = task.exception()
        return ClusterGone(f"A worker of the cluster could not ask: {error!r}")

    def drop(self, task: Any) -> None:
        """Nobody waits for this task any more."""
        task.release()

    async def say(self, token: str, counts: Counts) -> None:
        """Workers find there what was recorded of a run; raises ``OSError`` where they do not."""
        await self.client.scheduler.variable_set(name=token, data=counts)

    async def put_down(self, token: str) -> None:
        """Workers forget a run, and so does the scheduler."""
        if self.client.status == "running":
            # One that hangs would not answer; it has forgotten the run when it is started again.
            with suppress(TimeoutError):
                told = self.client.run(put_down, token, workers=self._there, on_error="ignore")
                await asyncio.wait_for(told, CONNECT)
            _dask().Variable(token, self.client).delete()


class Silence:
    """Which workers the scheduler has not heard of for ``SILENT`` seconds, said once of each.

    Seconds are counted as they are seen, so that an owner that was held up blames nobody.
    """

    def __init__(self) -> None:
        self._heard: dict[str, float] = {}
        self._quiet: dict[str, float] = {}
        self._last = float("inf")

    def seen(self, heard: dict[str, float], now: float) -> set[str]:
        """The silent ones, where the scheduler heard of each worker at those times."""
        passed, self._last = min(max(0.0, now - self._last), 1.0), now
        for worker, when in heard.items():
            same = self._heard.get(worker) == when
            before = self._quiet.get(worker, 0.0)
            self._quiet[worker] = before + passed if same else 0.0
            if before < SILENT <= self._quiet[worker]:
                log.warning(
                    "Worker %s has not been heard of for %g s: it is given up, and what it had is "
                    "asked by others.", worker, SILENT,
                )  # fmt: skip
            elif not same and before >= SILENT:
                log.warning("Worker %s is heard of again.", worker)
        self._heard = heard
        return {worker for worker in heard if self._quiet[worker] >= SILENT}


def _ours() -> Versions:
    return versions()


def _has_dashboard() -> bool:
    from importlib.util import find_spec

    return find_spec("bokeh") is not None


@asynccontextmanager
async def joined(where: str) -> AsyncIterator[Cluster]:
    """A cluster while it is used; one of this machine begins and ends with it.

    Raises:
        InputError: the address is none, Dask is not installed, nobody answers there, or its workers
            are of another version.
    """
    place, dask = read(where), _dask()
    async with AsyncExitStack() as stack:
        at: Any = place.address
        if place.local:
            at = await stack.enter_async_context(
                dask.LocalCluster(
                    n_workers=place.local,
                    threads_per_worker=4,
                    processes=True,
                    asynchronous=True,
                    dashboard_address="127.0.0.1:0",
                    host="127.0.0.1",
                    silence_logs=logging.ERROR,
                )
            )
        try:
            client = dask.Client(at, asynchronous=True, set_as_default=False, timeout=CONNECT)
            await stack.enter_async_context(client)
        except (OSError, ValueError) as error:
            raise InputError(f"No scheduler answers at {place.address}: {error}") from None
        yield await _ready(client)


async def _ready(client: Any) -> Cluster:
    """The cluster once a worker that fits is there."""
    cluster = Cluster(client, f"rubric-studio/{clock.owner_name()}")
    client.subscribe_topic(cluster.topic, cluster.hear)
    last = asyncio.get_running_loop().time() + FIRST_WORKERS
    while not await cluster.workers():
        if cluster.known:
            raise InputError(
                "No worker of the cluster fits: each needs the same versions of Rubric Studio, "
                f"Python and Dask as here ({_ours().words})."
            )
        if asyncio.get_running_loop().time() > last:
            raise InputError("The cluster has no workers.")
        await asyncio.sleep(LOOK_EVERY)
    return cluster
