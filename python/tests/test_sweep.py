"""Sweeps on executors: the table of the program, byte for byte, whoever computes; records that the program reads."""

import concurrent.futures
import contextlib
import csv
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mbgrad

PROGRAM = os.path.join(os.path.dirname(mbgrad.__file__), "bin", "mbgrad")
OPTIONS = ["--random", "30", "--vary", "k", "--vary", "c", "--end", "0.2"]


def table_of(path):
    with open(path) as f:
        rows = list(csv.DictReader(f))
    return {name: [float(row[name]) for row in rows] for name in ("k", "c")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "program.csv"
    subprocess.run([PROGRAM, "sweep", "quarter-car-design", *OPTIONS, "--out", path], check=True)
    return path


def processes():
    return concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def test_threads_and_processes(whole, tmp_path):
    model = mbgrad.load("quarter-car-design")
    model.sweep(points=table_of(whole), end=0.2, workers=2).to_csv(tmp_path / "threads.csv")
    assert (tmp_path / "threads.csv").read_bytes() == whole.read_bytes()
    with processes() as pool:
        model.sweep(points=table_of(whole), end=0.2, executor=pool).to_csv(tmp_path / "processes.csv")
    assert (tmp_path / "processes.csv").read_bytes() == whole.read_bytes()


def test_records_are_those_of_the_program(whole, tmp_path):
    folder, points = tmp_path / "records", table_of(whole)
    part = [PROGRAM, "sweep", "quarter-car-design", *OPTIONS, "--records", folder, "--shard", "1/3"]
    subprocess.run(part, check=True, stderr=subprocess.DEVNULL)
    mbgrad.load("quarter-car-design").sweep(points=points, end=0.2, records=folder).to_csv(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_bytes() == whole.read_bytes()
    merged = subprocess.run([PROGRAM, "merge", folder], check=True, capture_output=True).stdout
    assert merged == whole.read_bytes()
    said = subprocess.run([PROGRAM, "merge", folder, "--status"], check=True, capture_output=True, text=True).stdout
    assert "duplicate  0" in said
    with pytest.raises(mbgrad.InputError, match="name another folder"):
        mbgrad.load("quarter-car-design").sweep(points=points, end=0.3, records=folder)


def test_models_travel_by_content(tmp_path):
    folder = tmp_path / "there"
    subprocess.run([PROGRAM, "new", "quarter-car", folder], check=True, stdout=subprocess.DEVNULL)
    model = mbgrad.load(folder)
    points = {name: [1.0, 1.1] * np.array(model.parameters[name]) for name in list(model.parameters)[:1]}
    expected = model.sweep(points=points, end=0.05)
    os.rename(folder, tmp_path / "elsewhere")
    moved = mbgrad.load(tmp_path / "elsewhere")
    with processes() as pool:
        content = moved.sweep(points=points, end=0.05, executor=pool)
    assert all(np.array_equal(expected[name], content[name]) for name in expected)


def test_failures_are_rows(tmp_path):
    model = mbgrad.Model("failing")
    model.parameter("k", 1.0)
    model.body("b", motion="planar-point", mass=1, position=[1, 0, 0])
    model.add("forces", "s", type="spring-damper", between=["ground", "b"], along="x", stiffness="log(k)")
    model.signal("y", "position", of="b", component="x")
    model.criterion("end", terminal="y")
    model.configure("run", end=1, step=0.5)
    with processes() as pool:
        table = model.sweep(points={"k": [2.0, -1.0]}, executor=pool, records=tmp_path / "r")
    assert [said == "ok" for said in table["status"]] == [True, False]
    assert np.isnan(table["end"][1])
    again = model.sweep(points={"k": [2.0, -1.0]}, records=tmp_path / "r")
    assert [said == "ok" for said in again["status"]] == [True, False]
    assert again["end"][0] == table["end"][0]
    model = mbgrad.load("five-bar")
    with pytest.raises(TypeError, match="has no method submit"):
        model.sweep(points={"L01": [2.0]}, executor=3)
    with pytest.raises(ValueError, match="one length"):
        model.sweep(points={"L01": [2.0], "k1": [1.0, 2.0]})


class Inline(concurrent.futures.Executor):
    """An executor whose third task is lost."""

    _max_workers = 1

    def __init__(self, error):
        self.error, self.tasks = error, 0

    def submit(self, function, *arguments):
        future = concurrent.futures.Future()
        self.tasks += 1
        if self.tasks == 3:
            future.set_exception(self.error)
        else:
            future.set_result(function(*arguments))
        return future


def test_a_lost_task_says_what_is_there(whole, tmp_path):
    model, points = mbgrad.load("quarter-car-design"), table_of(whole)
    broken = concurrent.futures.process.BrokenProcessPool("gone")
    for records, notes in (
        (tmp_path / "r", [f"2 of 30 points are recorded in '{tmp_path / 'r'}'; the same call computes the others."]),
        (None, ["2 of 30 points were computed; with records=FOLDER the same call would compute the others."]),
    ):
        with pytest.raises(concurrent.futures.process.BrokenProcessPool) as caught:
            model.sweep(points=points, end=0.2, executor=Inline(broken), records=records)
        assert caught.value.__notes__ == notes
        del broken.__notes__
    with pytest.raises(RuntimeError) as caught:
        model.sweep(points=points, end=0.2, executor=Inline(RuntimeError("killed")), records=tmp_path / "r")
    assert caught.value.__notes__[0].startswith("The task had point 4")
    assert caught.value.__notes__[1].startswith("4 of 30 points are recorded")
    model.sweep(points=points, end=0.2, records=tmp_path / "r").to_csv(tmp_path / "resumed.csv")
    assert (tmp_path / "resumed.csv").read_bytes() == whole.read_bytes()


class Other:
    """What looks like an executor."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


@pytest.mark.parametrize(
    ("executor", "error", "message"),
    [
        (3, TypeError, "int has no method submit"),
        (concurrent.futures.ThreadPoolExecutor, TypeError, "ThreadPoolExecutor is a class; give an object of it"),
        (Other(submit=lambda *a: None), TypeError, "submit of Other returned NoneType, which is no future"),
        (Other(scheduler_address="tcp://"), TypeError, "Other has no method submit; give a Client of it"),
        (Other(submit=print, nthreads=dict, status="closed"), ValueError, "client of Dask is closed"),
        (Other(submit=print, nthreads=dict, asynchronous=True), TypeError, "give one with asynchronous=False"),
    ],
)
def test_what_is_no_executor(executor, error, message):
    with pytest.raises(error, match=message):
        mbgrad.load("five-bar").sweep(points={"L01": [2.0]}, end=0.01, executor=executor)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"points": {"L01": [2.0, np.nan]}}, ValueError, "L01: not all numbers are finite"),
        ({"points": {"L1": [2.0]}}, mbgrad.InputError, "no parameter 'L1'; did you mean 'L01'"),
        ({"points": {"L01": [[2.0]]}}, ValueError, "lists of one length"),
        ({"points": [[2.0]]}, TypeError, "points: expected lists by the names of parameters, not list"),
        ({"points": {3: [2.0]}}, TypeError, "points: expected names of parameters, not 3"),
        ({"points": {"L01": [2.0]}, "L01": 3.0}, ValueError, "L01: it is a column of points already"),
        ({"points": {"L01": []}, "records": "r"}, ValueError, "records: there are no points"),
        ({"points": {"L01": [2.0]}, "records": "a\0b"}, ValueError, "records: the name of the folder has a NUL"),
        ({"points": {"L01": [2.0]}, "records": ""}, mbgrad.InputError, "the folder of records has no name"),
        ({"points": {"L01": [2.0]}, "records": __file__}, mbgrad.InputError, "is a file; records need a folder"),
    ],
)
def test_points_and_folders_that_are_refused(settings, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        mbgrad.load("five-bar").sweep(end=0.01, **settings)
    assert list(tmp_path.iterdir()) == []


def test_workers_have_the_same_version():
    from mbgrad import _executor

    content = _executor.content_of(mbgrad.load("five-bar"))
    with pytest.raises(mbgrad.InputError, match=r"this program version 9\.9"):
        _executor.compute_points(content._replace(version="9.9", key="other"), np.zeros((1, 1)), {}, [0], 0, True)


def test_damaged_records_and_tables_that_cannot_be_written(whole, tmp_path):
    model, points = mbgrad.load("quarter-car-design"), table_of(whole)
    table = model.sweep(points=points, end=0.2, records=tmp_path / "r")
    (file,) = (tmp_path / "r").glob("*.records")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.warns(mbgrad.MbgradWarning, match=r"\.records:\d+: the record is damaged and does not count"):
        model.sweep(points=points, end=0.2, records=tmp_path / "r").to_csv(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == whole.read_bytes()
    with pytest.raises(FileNotFoundError) as caught:
        table.to_csv(tmp_path / "no" / "table.csv")
    assert caught.value.filename == str(tmp_path / "no" / "table.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError):
        table.to_csv(tmp_path / "folder.csv")
    assert not list(tmp_path.glob("*.tmp"))


KILLED = """
import concurrent.futures, csv, multiprocessing, sys, mbgrad
sys.path.insert(0, sys.argv[4])
from test_sweep import table_of
if __name__ == "__main__":
    if sys.argv[3] == "dask":
        import dask.distributed
        executor = dask.distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    else:
        executor = concurrent.futures.ProcessPoolExecutor(2)
    model = mbgrad.load("quarter-car-design")
    table = model.sweep(points=table_of(sys.argv[1]), end=0.2, executor=executor, records=sys.argv[2] + ".records")
    table.to_csv(sys.argv[2])
"""


def kill_and_resume(whole, out, engine, kills):
    """A client that is killed at random and started again ends with the same table."""
    script, random = out.with_suffix(".py"), np.random.default_rng(1)
    script.write_text(KILLED)
    words = [sys.executable, script, whole, out, engine, os.path.dirname(__file__)]
    # kills fall into the time that the quickest client took, on a busy machine and on an idle one
    shortest, done = 4.0, 0
    for _ in range(20 * kills):
        started = time.monotonic()
        process = subprocess.Popen(words, start_new_session=True, stderr=subprocess.DEVNULL)
        try:
            process.wait(random.uniform(0.1, 1) * shortest)
            shortest = min(shortest, time.monotonic() - started)
            out.unlink()
            for file in list(out.parent.glob(out.name + ".records/*.records"))[:1]:
                file.unlink()  # it was quicker: there is something to do again
        except subprocess.TimeoutExpired:
            done += 1
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if done == kills:
            break
    assert done == kills
    subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
    assert out.read_bytes() == whole.read_bytes()


def test_a_client_that_is_killed(whole, tmp_path):
    kill_and_resume(whole, tmp_path / "killed.csv", "processes", 1)


@pytest.mark.long
def test_dask(whole, tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    model = mbgrad.load("quarter-car-design")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        model.sweep(points=table_of(whole), end=0.2, executor=client).to_csv(tmp_path / "dask.csv")
        assert (tmp_path / "dask.csv").read_bytes() == whole.read_bytes()
        # one worker is killed while it computes
        started = concurrent.futures.ThreadPoolExecutor(1)
        points = {name: np.tile(column, 40) for name, column in table_of(whole).items()}
        sweep = started.submit(model.sweep, points=points, end=0.4, executor=client)
        worker = next(iter(client.run(os.getpid).values()))
        os.kill(worker, signal.SIGKILL)
        table = sweep.result()
        assert table["status"] == ["ok"] * len(points["k"])
        expected = model.sweep(points=points, end=0.4)
        assert all(np.array_equal(table[name], expected[name]) for name in expected)
    kill_and_resume(whole, tmp_path / "killed.csv", "dask", 20)
