"""The examples in Python of README.md, docs/ and gallery/ run and print what they say."""

import contextlib
import io
import os
import re
import warnings

import pytest

from conftest import LONG, SRC

BLOCK = re.compile(r"^(<!-- long -->\n)?(?:`([\w.-]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.S | re.M)
PAGES = sorted(
    str(page.relative_to(SRC))
    for page in [SRC / "README.md", *(SRC / "docs").rglob("*.md"), *(SRC / "gallery").rglob("*.md")]
    if "```python" in page.read_text(encoding="utf-8")
)


def same(expected, printed):
    """Do the lines agree? `...` stands for any text."""
    pattern = re.escape(expected.strip()).replace(r"\.\.\.", ".*?")
    return re.fullmatch(pattern, printed.strip(), re.S)


@pytest.mark.parametrize("page", PAGES)
def test_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, printed, found = {}, None, 0
    for long, name, kind, code in BLOCK.findall((SRC / page).read_text(encoding="utf-8")):
        if name:  # a file that the page names
            (tmp_path / name).write_text(code, encoding="utf-8")
        elif kind == "text" and printed is not None:
            assert same(code, printed), printed
        elif kind == "python" and (LONG or not long):
            found += 1
            out = io.StringIO()
            with contextlib.redirect_stdout(out), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(code, f"{page} example {found}", "exec"), names)
            printed = out.getvalue()
        elif kind not in ("python", "text"):
            printed = None  # a text that follows is not ours
    assert found >= 1


def test_pages():
    assert {"README.md", "docs/python.md", "docs/tutorials/measured-data.md"} <= set(PAGES)


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
