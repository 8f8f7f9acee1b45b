"""One scene with many settings: :func:`sweep`."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _lilyan
from .scene import _settings

__all__ = ["SweepResult", "sweep"]


@dataclass(frozen=True)
class SweepResult:
    """What came out of a sweep."""

    #: A dict for each run that has ended, in the order of the plan: ``index``, ``id``, ``values``, ``state``, ``reason``, ``verdict``,
    #: ``verdict_level`` and ``results``.
    rows: list[dict[str, Any]]
    #: The varied keys.
    keys: list[str]
    #: Number of runs of the plan.
    planned: int
    #: The folder: ``sweep.csv``, ``report.html``, ``plan.csv``, and ``runs/ID`` for each run.
    folder: pathlib.Path

    @property
    def table(self) -> pathlib.Path:
        """``sweep.csv``."""
        return self.folder / "sweep.csv"

    @property
    def report(self) -> pathlib.Path:
        """The page with the pictures of all runs."""
        return self.folder / "report.html"

    @property
    def unfinished(self) -> list[dict[str, Any]]:
        """Runs that failed or were refused; ``reason`` says why."""
        return [row for row in self.rows if row["state"] != "finished"]

    def frame(self) -> Any:
        """The table as a pandas frame."""
        import pandas

        return pandas.read_csv(self.table)


def _values(values: Any) -> list[str]:
    if isinstance(values, str):
        return _lilyan.sweep_values(values)
    return [_settings({"": value})[0][1:] for value in values]


def _run(threads: int, *task: Any) -> bool:
    """One run, in whatever thread, process or machine the executor puts it."""
    _lilyan.set_threads(threads)
    return _lilyan.sweep_run(*task)


def sweep(
    scene: str | os.PathLike[str],
    vary: Mapping[str, str | Sequence[Any]],
    out: str | os.PathLike[str],
    *,
    set: Mapping[str, Any] | None = None,
    executor: concurrent.futures.Executor | None = None,
    client: Any = None,
    jobs: int | None = None,
    threads: int = 1,
    retry: bool = False,
    progress: bool = False,
) -> SweepResult:
    """Runs a scene with every combination of the values of some keys, as ``lilyan sweep`` does, with the same files to the byte.

    ``vary`` has a list of values for each key, or a text as on the command line::

        done = lilyan.sweep("cantilever", {"body.beam.material.E": "1e5..1e7:log5", "time.step": [0.01, 0.005]}, "out/study")
        print(done.frame())

    Runs go to ``jobs`` threads of this process (as many as there are cores), to an ``executor`` of :mod:`concurrent.futures`, or to a
    Dask ``client``, whose cluster may be this computer or a queue; its workers must see the same folders. What is done is not done
    again: the same call goes on where an earlier one stopped. Ctrl-C stops all runs with a checkpoint. With ``retry``, runs that did not
    finish are done again.
    """
    folder = pathlib.Path(out).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    # Workers may have another working directory.
    name = os.path.abspath(scene) if os.path.isfile(scene) else os.fspath(scene)
    keys = [(key, _values(values)) for key, values in vary.items()]
    settings = _settings(set)
    plan = _lilyan.SweepPlan(name, settings, keys, str(folder))
    stop = folder / "stop"
    stop.unlink(missing_ok=True)
    own = None
    if client is not None:
        executor = client.get_executor()
    elif executor is None:
        executor = own = concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count())
    tasks = [executor.submit(_run, threads, name, settings, keys, str(folder), k, retry) for k in range(len(plan))]
    try:
        for count, task in enumerate(concurrent.futures.as_completed(tasks), 1):
            task.result()
            if progress:
                print(f"\r{count} of {len(tasks)} runs", end="", file=sys.stderr, flush=True)
    except BaseException:
        stop.touch()
        for task in tasks:
            task.cancel()
        concurrent.futures.wait([task for task in tasks if not task.cancelled()])
        stop.unlink(missing_ok=True)
        raise
    finally:
        if own is not None:
            own.shutdown()
        if progress:
            print(file=sys.stderr)
    table = json.loads(plan.finish())
    return SweepResult(table["rows"], table["keys"], table["planned"], folder)
