"""Train and apply offline judges on a cluster: each worker trains some of the criteria.

With thousands of items, training takes one process minutes and would block the owner's event loop.
Workers return the judge's votes, not its model. Dask retries a task whose worker dies. If the
cluster fails, the owner does the work.
"""

from __future__ import annotations

import logging
import pickle

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Rubric
from core.errors import RubricStudioError
from core.judging.offline import AppliedModel, OfflineJudge, TrainingReport
from core.services.runs.cluster.joining import Cluster
from core.services.runs.ready_run import Job, TrainedJudge, trained_here, trained_model

log = logging.getLogger(__name__)
#: Fewer cells are not worth sending: one process handles this many in about ten seconds.
WORTH = 5_000

#: By criterion: the trained judge's votes, or why it could not be trained.
Found = dict[str, AppliedModel | TrainingReport]


def needs_help(job: Job) -> bool:
    """Return whether the run has judges that learn, and enough cells to need help."""
    learns = any(judge.learns for judge in job.plan.panel.judges)
    return learns and len(job.items) * len(job.rubric.criteria) >= WORTH


async def train_on_cluster(cluster: Cluster, spec: Judge, job: Job) -> TrainedJudge:
    """Train the judge on the workers; return the same as ``trained_here``."""
    names = [criterion.name for criterion in job.rubric.criteria]
    workers = await cluster.workers()
    shares = [names[start :: len(workers)] for start in range(min(len(workers), len(names)))]
    arguments = (spec, job.rubric, job.calibration, job.items, job.plan.seed)
    client = cluster.client
    try:
        (sent,) = await client.scatter([pickle.dumps(arguments)], broadcast=True, hash=False)
        tasks = [
            client.submit(learn_criteria, sent, share, workers=workers, pure=False, retries=2)
            for share in shares
        ]
        parts = await client.gather(tasks)
    except RubricStudioError:
        raise
    except Exception as error:
        log.warning("The cluster could not train %s (%r), so it is done here.", spec.name, error)
        return await trained_here(spec, job)
    by_name: Found = {name: model for part in parts for name, model in part.items()}
    models = {name: by_name[name] for name in names}
    judge = OfflineJudge(spec, models)
    judge.prepare(job.items)
    return judge, judge.reports()


def learn_criteria(sent: bytes, names: list[str]) -> Found:
    """Train the judge for these criteria, on a worker, and return its votes on all items."""
    spec, rubric, calibration, items, seed = pickle.loads(sent)
    return {name: _applied_model(spec, rubric, name, calibration, items, seed) for name in names}


def _applied_model(
    spec: Judge,
    rubric: Rubric,
    name: str,
    calibration: tuple[Item, ...],
    items: tuple[Item, ...],
    seed: int,
) -> AppliedModel | TrainingReport:
    model = trained_model(spec, rubric.criterion(name), rubric, calibration, items, seed)
    if isinstance(model, TrainingReport):
        return model
    predictions = model.predict(items)
    by_item = {item.id: prediction for item, prediction in zip(items, predictions, strict=True)}
    return AppliedModel(model.criterion, model.report, by_item)
