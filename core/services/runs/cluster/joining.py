"""Join a Dask cluster: by its address, or as processes on this machine."""

from __future__ import annotations

import asyncio
import logging
import pickle
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from typing import Any

from core import clock
from core.errors import InputError, RubricStudioError
from core.services.runs.cluster.credit import Counts
from core.services.runs.cluster.orders import Versions, WorkerMessage
from core.services.runs.cluster.remote import forget_run, own_versions

log = logging.getLogger(__name__)
#: Limits in seconds: for the scheduler's absence, for the arrival of the first workers, and for the
#: scheduler's answer.
PATIENCE, FIRST_WORKERS, CONNECT = 30.0, 60.0, 10.0
LOOK_EVERY = 0.2
#: The scheduler gives up a worker after not hearing from it for this many seconds. The worker's
#: event loop contacts the scheduler every few seconds, even during long calls.
SILENT = 30.0
ALL_SILENT = (
    "No worker of the cluster moves any more. What was answered is kept; start them again and "
    "resume the run, on the cluster or without."
)
#: A larger number of local processes is surely a typo.
MOST_LOCAL = 256


class ClusterGone(RubricStudioError):
    """The scheduler of a cluster was lost, or all of its workers."""


def parse_cluster(address: str) -> tuple[str, int]:
    """Return a cluster's address, or ``""`` and a number of workers on this machine.

    Raises:
        InputError: it is neither an address nor ``local:N``.

    >>> parse_cluster("local:4"), parse_cluster("tcp://10.0.0.5:8786")
    (('', 4), ('tcp://10.0.0.5:8786', 0))
    """
    if local := re.fullmatch(r"local:(\d{1,6})", address.strip()):
        if 1 <= int(local[1]) <= MOST_LOCAL:
            return "", int(local[1])
        raise InputError(f"A local cluster has 1 to {MOST_LOCAL} workers, not {local[1]}.")
    if re.fullmatch(r"(tcp|tls|ws|wss|ucx)://\S+", address.strip()):
        return address.strip(), 0
    raise InputError(
        f"The cluster is {address!r}; use tcp://HOST:PORT (a Dask scheduler) or local:N (N "
        "processes on this machine)."
    )


def require_cluster(address: str) -> None:
    """Raise ``InputError`` if the cluster's name is invalid or Dask is not installed."""
    parse_cluster(address)
    _import_dask()


def _import_dask() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError(
            "A cluster needs Dask: install rubric-studio[cluster] here and on every worker."
        ) from None
    # Dask also logs every connection that ends, with a traceback.
    logging.getLogger("distributed").setLevel(logging.ERROR)
    logging.getLogger("distributed.client").addFilter(_worth_logging)
    return distributed


def _worth_logging(record: logging.LogRecord) -> bool:
    """Return whether to log a record; not the error that Dask logs if this process leaves while
    Dask looks for its scheduler.
    """
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


class Cluster:
    """A joined cluster. Use it on the event loop that joined it."""

    def __init__(self, client: Any, topic: str) -> None:
        self.client, self.topic = client, topic
        self._listeners: dict[str, Callable[[WorkerMessage], None]] = {}
        self.known: dict[str, bool] = {}
        self._seen, self._there = float("-inf"), list[str]()
        self._away_since: float | None = None
        self._silence = Silence()

    @property
    def dashboard(self) -> str:
        """Return the address of Dask's dashboard, or an empty string."""
        return str(self.client.dashboard_link or "") if _has_dashboard() else ""

    def record(self) -> dict[str, Any]:
        """Return what the run's record shows of the cluster: address, workers, dashboard."""
        workers = sum(self.known.values())
        return {
            "address": self.client.scheduler.address,
            "workers": workers,
            "dashboard": self.dashboard,
        }

    @property
    def closed(self) -> bool:
        """Return whether this process left or lost the cluster."""
        return bool(self.client.status == "closed")

    @contextmanager
    def listening(self, token: str, on_message: Callable[[WorkerMessage], None]) -> Iterator[None]:
        """Pass the workers' messages about a run to ``on_message``."""
        self._listeners[token] = on_message
        try:
            yield
        finally:
            del self._listeners[token]

    def on_event(self, event: tuple[float, bytes]) -> None:
        """Handle an event of this owner's topic."""
        news = pickle.loads(event[1])
        assert isinstance(news, WorkerMessage)
        if news.token in self._listeners:
            self._listeners[news.token](news)

    async def workers(self) -> list[str]:
        """Return the addresses of compatible workers; empty while the scheduler is away.

        It asks the scheduler at most once per ``LOOK_EVERY``, since it is called far more often.

        Raises: ClusterGone: the scheduler was away too long or closed, or all compatible workers
        are silent.
        """
        loop = asyncio.get_running_loop()
        if self.client.status == "running":
            self._away_since = None
            if loop.time() - self._seen < LOOK_EVERY:
                return self._there
            try:
                identity = await self.client.scheduler.identity(n_workers=-1)
            except (OSError, ValueError) as error:
                log.info("The scheduler could not be asked for its workers: %s", error)
                return []
            silent_workers = self._silence.silent_workers(
                {str(address): info["last_seen"] for address, info in identity["workers"].items()},
                loop.time(),
            )
            workers = [
                str(address)
                for address in identity["workers"]
                if str(address) not in silent_workers
            ]
            await self._check_versions(
                [address for address in workers if address not in self.known]
            )
            self._there = [address for address in workers if self.known.get(address)]
            self._seen = loop.time()
            if not self._there and any(self.known.get(address) for address in silent_workers):
                raise ClusterGone(ALL_SILENT)
            return self._there
        self._away_since = self._away_since or loop.time()
        if self.client.status == "closed" or loop.time() - self._away_since > PATIENCE:
            raise ClusterGone(
                "The scheduler of the cluster is gone. What was answered is kept; start it again "
                "and resume the run, on the cluster or without."
            )
        return []

    async def _check_versions(self, new: list[str]) -> None:
        """Compare the versions of new workers. Warn once about each that is incompatible."""
        if not new:
            return
        own = _own_versions()
        try:
            answers = self.client.run(own_versions, workers=new, on_error="return")
            worker_versions = await asyncio.wait_for(answers, SILENT)
        except TimeoutError:
            log.warning("New workers of the cluster do not answer yet: %s.", ", ".join(new))
            return
        for address in new:
            version = worker_versions.get(address)
            self.known[address] = version == own
            if version != own:
                label = getattr(version, "words", f"no Rubric Studio ({type(version).__name__})")
                log.warning(
                    "Worker %s has %s, and this is %s: it is not asked.", address, label, own.words
                )

    def failed(self, task: Any) -> RubricStudioError:
        """Return the error of a chunk whose task failed."""
        error = task.exception()
        return ClusterGone(f"A worker of the cluster could not ask: {error!r}")

    def drop(self, task: Any) -> None:
        """Release a task whose result is no longer needed."""
        task.release()

    async def say(self, token: str, counts: Counts) -> None:
        """Publish a run's recorded counts to workers; raise ``OSError`` if that fails."""
        await self.client.scheduler.variable_set(name=token, data=counts)

    async def forget_run(self, token: str) -> None:
        """Make workers and the scheduler forget a run."""
        if self.client.status == "running":
            # A worker that hangs does not answer. A restart of the worker forgets the run anyway.
            with suppress(TimeoutError):
                forgetting = self.client.run(
                    forget_run, token, workers=self._there, on_error="ignore"
                )
                await asyncio.wait_for(forgetting, CONNECT)
            _import_dask().Variable(token, self.client).delete()


class Silence:
    """Finds workers that the scheduler has not heard from for ``SILENT`` seconds; logs each once.

    Only seconds while this process runs count, so that a delayed owner does not blame workers.
    """

    def __init__(self) -> None:
        self._heard: dict[str, float] = {}
        self._quiet: dict[str, float] = {}
        self._last = float("inf")

    def silent_workers(self, last_heard: dict[str, float], now: float) -> set[str]:
        """Return the silent workers, given the time when the scheduler last heard from each."""
        passed, self._last = min(max(0.0, now - self._last), 1.0), now
        for worker, heard_at in last_heard.items():
            same = self._heard.get(worker) == heard_at
            before = self._quiet.get(worker, 0.0)
            self._quiet[worker] = before + passed if same else 0.0
            if before < SILENT <= self._quiet[worker]:
                log.warning(
                    "Worker %s has not been heard of for %g s: it is given up, and what it had is "
                    "asked by others.", worker, SILENT,
                )  # fmt: skip
            elif not same and before >= SILENT:
                log.warning("Worker %s is heard of again.", worker)
        self._heard = last_heard
        return {worker for worker in last_heard if self._quiet[worker] >= SILENT}


def _own_versions() -> Versions:
    return own_versions()


def _has_dashboard() -> bool:
    from importlib.util import find_spec

    return find_spec("bokeh") is not None


@asynccontextmanager
async def joined_cluster(location: str) -> AsyncIterator[Cluster]:
    """Join a cluster inside the ``with`` block. A local cluster starts and stops with it.

    Raises:
        InputError: the address is invalid, Dask is not installed, no scheduler answers, or the
            workers have another version.
    """
    (scheduler, local), dask = parse_cluster(location), _import_dask()
    async with AsyncExitStack() as stack:
        address: Any = scheduler
        if local:
            address = await stack.enter_async_context(
                dask.LocalCluster(
                    n_workers=local,
                    threads_per_worker=4,
                    processes=True,
                    asynchronous=True,
                    dashboard_address="127.0.0.1:0",
                    host="127.0.0.1",
                    silence_logs=logging.ERROR,
                )
            )
        try:
            client = dask.Client(address, asynchronous=True, set_as_default=False, timeout=CONNECT)
            await stack.enter_async_context(client)
        except (OSError, ValueError) as error:
            raise InputError(f"No scheduler answers at {scheduler}: {error}") from None
        yield await _ready_cluster(client)


async def _ready_cluster(client: Any) -> Cluster:
    """Return the cluster once it has a compatible worker."""
    cluster = Cluster(client, f"rubric-studio/{clock.owner_name()}")
    client.subscribe_topic(cluster.topic, cluster.on_event)
    last = asyncio.get_running_loop().time() + FIRST_WORKERS
    while not await cluster.workers():
        if cluster.known:
            raise InputError(
                "No worker of the cluster fits: each needs the same versions of Rubric Studio, "
                f"Python and Dask as here ({_own_versions().words})."
            )
        if asyncio.get_running_loop().time() > last:
            raise InputError("The cluster has no workers.")
        await asyncio.sleep(LOOK_EVERY)
    return cluster
