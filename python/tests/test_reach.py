"""The package calls every function of the public headers, or this file says what it offers in its place."""

import re

from conftest import SRC

ELSEWHERE = {
    "model.check().data holds the JSON, with all of them": (
        "mbg_check_coupling mbg_check_get_body mbg_check_get_criterion mbg_check_get_driver mbg_check_get_force"
        " mbg_check_get_joint mbg_check_get_link mbg_check_get_parameter mbg_check_get_signal mbg_check_get_summary"
        " mbg_check_redundant mbg_check_warning"
    ),
    "arrays without a copy hold the same numbers": (
        "mbg_run_frames mbg_run_last_state mbg_run_node_time mbg_run_parameters mbg_run_signal mbg_run_signals"
        " mbg_run_times mbg_run_twists"
    ),
    "warnings say when points are computed one by one": "mbg_ensemble_width",
    "exceptions carry every message, and names are looked up in Python": (
        "mbg_context_error mbg_method_find mbg_modes_at_name"
    ),
    "model.film and model.picture, by the program": (
        "mbg_picture_options_default mbg_picture_create mbg_picture_destroy mbg_picture_width mbg_picture_height"
        " mbg_picture_frame_count mbg_picture_frame_time mbg_picture_figure_count mbg_picture_figure"
    ),
    "run.vjp and function.vjp": "mbg_run_gradient_sum",
    "run.hessian and run.hessian_vector": (
        "mbg_hessian_create mbg_hessian_destroy mbg_hessian_product mbg_hessian_matrix"
        " mbg_hessian_products mbg_hessian_matrices"
    ),
    "run.jvp": "mbg_run_jvp",
    "scatter of frequencies is computed by the program": "mbg_modes_hessian",
    "weights of signals are arrays": "mbg_run_read_cotangent",
    "mbg_model_load_run without a run is the same": "mbg_model_load",
    "model.run_name, model.to_dict()": (
        "mbg_model_active_run mbg_model_criterion_kind mbg_model_file mbg_model_force_type mbg_model_joint_type"
        " mbg_model_parameter_is_set"
        " mbg_model_parameter_log_scale mbg_model_parameter_note mbg_model_parameter_unit mbg_model_run_note"
        " mbg_model_signal_type mbg_model_signal_unit"
    ),
    "overwriting of files is looked after by the program": "mbg_model_reads",
    "result.model is a model with the solution, whose to_json() writes it": (
        "mbg_control_model mbg_control_parameters mbg_control_write mbg_control_write_model mbg_control_same_times"
    ),
}


def public():
    text = "".join(p.read_text(encoding="utf-8") for p in sorted((SRC / "include" / "mbgrad").glob("*.h")))
    return set(re.findall(r"^MBG_API [^;(]*?\b(mbg_\w+)\(", text, re.M))


def called():
    python = "".join(p.read_text(encoding="utf-8") for p in (SRC / "python" / "mbgrad").glob("*.py"))
    module = (SRC / "python" / "module.c").read_text(encoding="utf-8")
    found = set(re.findall(r"lib\.(mbg_\w+)", python)) | set(re.findall(r"\b(mbg_\w+)\(", module))
    # by names that are put together: see _compiled.py and _problems.py
    for kind in re.findall(r'_names\("(\w+)"\)', python):
        found |= {f"mbg_model_{kind}_count", f"mbg_model_{kind}_name"}
    found |= {f"{name}_default" for name in re.findall(r'"(mbg_\w+_options)"', python)}
    return found


def test_every_function_is_reached():
    functions = public()
    assert len(functions) > 150
    listed = set(" ".join(ELSEWHERE.values()).split())
    assert functions - called() - listed == set(), "neither called nor listed"
    assert listed - functions == set(), "listed, but not in the headers"
    assert listed & called() == set(), "listed, but called"
