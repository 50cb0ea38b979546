"""Models: loading, building, changing, errors, pickling."""

import json
import pickle

import numpy as np
import pytest

import mbgrad
from conftest import SRC
from mbgrad import FileError, InputError, Model


def pendulum():
    model = Model("pendulum")
    model.parameter("l", 1.0, min=0.1, max=3, unit="m")
    model.parameter("m", 2)
    bob = model.body("bob", motion="planar", mass="m", inertia=0.01, position=np.array([1.0, 0, 0]))
    model.revolute("hinge", between=["ground", bob], at=[0, 0, 0])
    model.gravity = [0, -9.81, 0]
    model.signal("y", "position", of=bob, component="y")
    model.criterion("depth", integral="y*l")
    model.configure("run", end=0.5, step=0.01)
    return model


def test_load_by_name_path_folder_and_dict(five_bar, tmp_path):
    file = SRC / "gallery" / "five-bar" / "model.json"
    value = five_bar.value("psi", end=0.1)
    for source in (file, str(file), file.parent, json.loads(file.read_text())):
        assert mbgrad.load(source).value("psi", end=0.1) == value
    assert five_bar.name == "five-bar"
    assert "five-bar" in repr(five_bar)
    assert five_bar.note.startswith("Planar five-bar")
    assert list(five_bar.parameters)[:2] == ["L01", "L02"]
    assert five_bar.bounds[1]["k1"] == 1000
    assert five_bar.signals == ["x2", "y2", "E"]
    assert five_bar.joints == ["A", "1", "2", "3", "B"]


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("five-ba", FileError, "did you mean 'five-bar'"),
        ("no/such/model.json", FileError, "neither a file nor a folder"),
        (3, TypeError, "not int"),
        ({"mbgrad": 1, "bodies": {"a": {"mas": 1}}}, InputError, "did you mean 'mass'"),
        ({"mbgrad": 1, "gravity": [0, float("nan"), 0]}, ValueError, "model.gravity[1]: nan"),
        ({"mbgrad": 1, 3: 4}, TypeError, "keys are texts"),
        ({"mbgrad": 1, "bodies": {"a": object()}}, TypeError, "model.bodies.a"),
    ],
)
def test_wrong_sources(source, kind, message):
    with pytest.raises(kind) as caught:
        mbgrad.load(source)
    assert message in str(caught.value)


def test_errors_have_their_place(tmp_path):
    file = tmp_path / "model.json"
    file.write_text('{"mbgrad": 1,\n "bodies": {"a": {"mas": 1}},\n "joints": {"b": {"type": "revolut"}}}')
    with pytest.raises(InputError) as caught:
        mbgrad.load(file)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(file), 2, 20)
    assert [m.line for m in error.messages] == [2, 3]
    assert "did you mean 'mass'" in str(error)
    assert "did you mean 'revolute'" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.messages) == (str(error), 2, error.messages)
    assert isinstance(error, ValueError)
    with pytest.raises(OSError, match="holds no model"):
        mbgrad.load(tmp_path / "..")


def test_error_of_a_model_in_code_is_in_its_json():
    model = pendulum()
    model.add("joints", "extra", type="revolut")
    with pytest.raises(InputError) as caught:
        model.simulate()
    line = model.to_json().split("\n")[caught.value.line - 1]
    assert '"revolut"' in line
    assert caught.value.file == "<pendulum>"
    assert "not complete" in repr(model)


def test_build_in_code(tmp_path):
    model = pendulum()
    value, gradient = model.value_and_grad()
    again = mbgrad.load(json.loads(model.to_json()))
    assert again == model
    assert again.value_and_grad()[0] == value
    assert gradient["m"] == pytest.approx(0, abs=1)
    model.to_json(tmp_path / "p.json")
    assert mbgrad.load(tmp_path / "p.json").value() == value
    assert model.to_dict()["parameters"]["m"] == 2


def test_change_a_loaded_model(five_bar):
    model = five_bar.copy()
    model.criterion("end", terminal="x2")
    model.remove("criteria", "psi")
    assert model.criteria == ["end"]
    assert five_bar.criteria == ["psi"]
    model.gravity = None
    assert model.gravity is None
    assert five_bar.gravity == [0, -9.81, 0]
    assert isinstance(model.value(end=0.05), float)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda m: m.add("body", "a", mass=1), InputError, "did you mean 'bodies'"),
        (lambda m: m.add("bodies", 3, mass=1), TypeError, "name of an element"),
        (lambda m: m.body("a", mass=float("inf")), ValueError, "bodies.a.mass: inf"),
        (lambda m: m.body("a", mass=1, colour="red"), TypeError, "colour"),
        (lambda m: m.configure("runn", end=1), InputError, "did you mean 'run'"),
        (lambda m: m.remove("bodies", "bab"), InputError, "did you mean 'bob'"),
        (lambda m: m.constant("c", 1j), TypeError, "constants.c"),
        (lambda m: m.for_run("x"), InputError, "no run 'x'"),
        (lambda m: Model(3), TypeError, "mbgrad.load"),
    ],
)
def test_wrong_changes(call, kind, message):
    with pytest.raises(kind) as caught:
        call(pendulum())
    assert message in str(caught.value)


METHODS = {"bodies": {None: "body", "rigid": "body", "modal": "modal_body"}}
PLAIN = {
    "beams": "beam", "markers": "marker", "drivers": "driver", "couplings": "coupling", "tables": "table",
    "parts": "part", "controls": "control_input", "criteria": "criterion", "signals": "signal", "states": "state",
    "blocks": "block",
}  # fmt: skip


def rebuild(source, base):
    """The same model by calls of methods."""
    model = Model(base=base)
    for section, content in source.items():
        if section == "gravity":
            model.gravity = content
        elif section in ("initial", "run", "control", "identify", "optimize"):
            model.configure(section, **content)
        elif not isinstance(content, dict):
            model._edit()[section] = content
        else:
            for name, element in content.items():
                rebuild_element(model, section, name, element)
    return model


def rebuild_element(model, section, name, element):
    if not isinstance(element, dict) or section in ("runs", "constants", "events", "curves") or "outer" in element:
        model.add(section, name, element)
        return
    keys = {k + "_" if k in ("in", "from") else k: v for k, v in element.items()}
    type_ = keys.get("type")
    if section in ("joints", "forces"):
        method = keys.pop("type").replace("-", "_")
        method = "expression_force" if method == "expression" else method
    elif section == "couplings" and type_:
        method = keys.pop("type").replace("-", "_")
    elif section == "bodies":
        method = METHODS["bodies"][keys.pop("type", None)]
    elif section == "parameters":
        method = "parameter"
    else:
        method = PLAIN[section]
    assert getattr(model, method)(name, **keys) == name
    if section == "bodies" and type_ == "rigid":
        model._edit()[section][name]["type"] = "rigid"


@pytest.mark.parametrize("name", mbgrad.gallery())
def test_gallery_round_trip(name):
    jsonschema = pytest.importorskip("jsonschema")
    model = mbgrad.load(name)
    source = model.to_dict()
    jsonschema.Draft202012Validator(mbgrad.schema()).validate(source)
    built = rebuild(source, SRC / "gallery" / name)
    assert built.to_dict() == source
    assert json.loads(built.to_json()) == source
    assert built.parameters == model.parameters
    assert built.criteria == model.criteria
    assert pickle.loads(pickle.dumps(model)).parameters == model.parameters


def test_elements_are_up_to_date():
    import subprocess
    import sys

    tool = SRC / "tools" / "python-elements"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_runs(five_bar):
    name = next(n for n in mbgrad.gallery() if mbgrad.load(n).runs)
    model = mbgrad.load(name)
    one = mbgrad.load(name, run=model.runs[0])
    assert one.run_name == model.runs[0]
    assert model.for_run(model.runs[0]).criteria == one.criteria
    with pytest.raises(InputError):
        mbgrad.load(name, run="no such run")
    with pytest.raises(TypeError):
        mbgrad.load(name, run=3)
    assert pickle.loads(pickle.dumps(one)).run_name == model.runs[0]


def test_beams():
    model = mbgrad.load("swinging-beam")
    assert model.beams == {"rod": [f"rod.{i}" for i in range(5)]}
    assert model.modal == {}
    run = model.simulate(end=0.01)
    x = [run.frames[node].position[0, 0] for node in model.beams["rod"]]
    assert np.allclose(x, np.linspace(0, 1, 5))
    assert mbgrad.load("five-bar").beams == {}


def test_formulations():
    found = mbgrad.formulations()
    lie = found["lie"]
    assert isinstance(lie, str)
    assert lie == "Lie group generalized-alpha"
    assert (lie.key, lie.integrators) == ("lie", ())
    assert all(f.paper for f in found.values())
    assert {"dop853", "rk4"} <= set(found["qr"].integrators)
    assert pickle.loads(pickle.dumps(lie)).methods == lie.methods
    model = mbgrad.load("five-bar")
    for f in found.values():
        for method in ("direct", "adjoint", "continuous", "continuous-paper"):
            if method in f.methods:
                assert np.isfinite(model.grad("psi", formulation=f.key, method=method, end=0.05)["k1"])
            else:
                with pytest.raises(mbgrad.UnsupportedError):
                    model.grad("psi", formulation=f.key, method=method, end=0.05)
        for integrator in f.integrators[:2]:
            assert model.simulate(formulation=f.key, integrator=integrator, step=0.005, end=0.01).formulation == f.key
