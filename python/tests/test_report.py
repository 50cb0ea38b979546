"""Reports: the pages of the program for models of files and of Python."""

import re

import pytest

import mbgrad


def sections(page):
    return re.findall(r'<section id="(\w+)">', page.html)


def test_of_the_gallery(tmp_path):
    model = mbgrad.load("five-bar")
    page = model.report(tmp_path / "page.html", k1=120, proof=False, error=False, end=0.5)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    assert sections(page) == ["model", "motion", "signals", "gradient", "numbers"]
    run = model.simulate(k1=120, end=0.5)
    value = re.search(r"<td>psi</td><td class=\"n\">([^<]*)</td>", page.html)[1]
    assert abs(float(value) / run.criteria["psi"] - 1) < 1e-5
    assert re.search(r"<td>k1</td><td class=\"n\">120</td>", page.html)


def test_of_a_changed_model_with_searches(tmp_path):
    model = mbgrad.load("five-bar-design").copy()
    model.gravity = (0, -9.7, 0)
    page = model.report(optimize=True, proof=False, error=False)
    assert sections(page)[-1] == "optimize"
    assert "proof" not in sections(page)


def test_proof():
    page = mbgrad.load("simple-pendulum").report(criteria=mbgrad.load("simple-pendulum").criteria[0])
    assert "proof" in sections(page)
    assert "gradient proven exact for these steps" in page.html


def test_pictures(tmp_path):
    model = mbgrad.load("five-bar")
    model.film(tmp_path / "film.svg", frames=8, end=0.5, k1=120)
    model.picture(tmp_path / "start.svg")
    model.picture(tmp_path / "later.svg", at=1.0, eye=(30, 20))
    film, start, later = ((tmp_path / f"{name}.svg").read_text(encoding="utf-8") for name in ("film", "start", "later"))
    assert film.startswith("<svg")
    assert start.startswith("<svg")
    assert start != later
    with pytest.raises(mbgrad.Error, match=r"film\.txt"):
        model.film(tmp_path / "film.txt")
    with pytest.raises(TypeError, match="a picture takes no option 'interval'"):
        model.picture(tmp_path / "start.svg", interval=0.1)


def test_errors():
    model = mbgrad.load("five-bar")
    with pytest.raises(mbgrad.InputError, match="no criterion 'nothing'"):
        model.report(criteria="nothing")
    with pytest.raises(mbgrad.InputError, match="optimize"):
        model.report(optimize=True, proof=False)
    with pytest.raises(TypeError, match="takes no option 'rho_inf'"):
        model.report(rho_inf=0.5)
    with pytest.raises(TypeError, match="no parameter or option 'k9'"):
        model.report(k9=1)
