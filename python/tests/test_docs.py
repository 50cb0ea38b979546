"""The examples of docs/python.md and README.md run and print what they say."""

import contextlib
import io
import os
import re
import warnings

import pytest

from conftest import LONG, SRC

BLOCK = re.compile(r"(<!-- long -->\n)?```(python|text)\n(.*?)```\n", re.S)


def same(expected, printed):
    """Do the lines agree? `...` stands for any text."""
    pattern = re.escape(expected.strip()).replace(r"\.\.\.", ".*?")
    return re.fullmatch(pattern, printed.strip(), re.S)


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, printed, found = {}, "", 0
    text = (SRC / page).read_text(encoding="utf-8")
    if page == "README.md":
        text = text.split("## Python", 1)[1].split("\n## ", 1)[0]
    for long, kind, code in BLOCK.findall(text):
        if kind == "text":
            assert same(code, printed), printed
            continue
        if long and not LONG:
            continue
        found += 1
        out = io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(code, f"{page} example {found}", "exec"), names)
        printed = out.getvalue()
    assert found >= (1 if page == "README.md" else 6)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(p.name for p in (SRC / "examples" / "notebooks").glob("*.ipynb")))
def test_notebooks(name, tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(SRC / "examples" / "notebooks" / name, as_version=4)
    os.environ.setdefault("MPLBACKEND", "Agg")
    nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
