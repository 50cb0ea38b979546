import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mbgrad

LONG = os.environ.get("MBG_TEST_LONG") == "1"
SRC = Path(__file__).resolve().parents[2]


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("long") and not LONG:
            item.add_marker(pytest.mark.skip(reason="MBG_TEST_LONG=1 runs it"))


def pytest_configure(config):
    config.addinivalue_line("markers", "long: runs with MBG_TEST_LONG=1 only")


@pytest.fixture(scope="session")
def program():
    """Run the program with arguments; its JSON."""

    def call(*arguments, statuses=(0,)):
        command = [sys.executable, "-m", "mbgrad", *map(str, arguments), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode in statuses, done.stderr
        return json.loads(done.stdout)

    return call


@pytest.fixture(scope="session")
def five_bar():
    return mbgrad.load("five-bar")


@pytest.fixture(scope="session")
def quick():
    """A five-bar run of a few milliseconds."""
    model = mbgrad.load("five-bar").copy()
    model.configure("run", end=0.1)
    return model
