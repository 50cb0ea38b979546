"""Writes the C source of mbgrad's Python module: build_module.py CC INCLUDE... -o OUT.c

The public headers go through the C preprocessor, and what is left is what cffi declares: no structure is written
twice, and the C compiler checks every layout.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import tempfile

import cffi

HERE = pathlib.Path(__file__).resolve().parent

# what the module itself brings along (module.c)
OWN = """
typedef struct {
  volatile int cancel;
  int poll;
  int stopped;
  double t;
  double next;
  void *owner;
} mbg_py_watch;
extern "Python" int mbg_py_poll(void *owner, double t);
void mbg_py_watch_run(mbg_run_options *options, mbg_py_watch *watch);
void mbg_py_watch_optimize(mbg_optimize_options *options, mbg_py_watch *watch);
void mbg_py_watch_identify(mbg_identify_options *options, mbg_py_watch *watch);
void mbg_py_watch_control(mbg_control_options *options, mbg_py_watch *watch);
extern "Python" int mbg_py_optimize_state(void *owner, const mbg_optimize_state *state);
extern "Python" int mbg_py_identify_state(void *owner, const mbg_identify_state *state);
extern "Python" int mbg_py_control_state(void *owner, const mbg_control *control);
int mbg_py_evaluate(mbg_context *ctx, mbg_run *run, const double *p, int method, double *psi, double *gradient);
typedef struct {
  mbg_run *run;
  mbg_py_watch *watch;
  int keep;
  int clean;
} mbg_py_slot;
int mbg_py_evaluate_new(mbg_context *ctx, const mbg_model *model, const mbg_run_options *options, mbg_py_slot *slot,
                        int poll, const double *p, int n, const int *criteria, int method, double *psi,
                        double *gradient);
void mbg_py_release(mbg_py_slot *slot);
int mbg_py_history(mbg_context *ctx, mbg_run *run, double *dy, size_t row);
int mbg_py_pose_history(mbg_context *ctx, mbg_run *run, double *dx, size_t row);
"""


def declarations(compiler: list[str], includes: list[str]) -> str:
    """The public headers after the preprocessor, without the headers of C."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stdbool.h", "stddef.h"):  # cffi knows bool and size_t
            pathlib.Path(empty, name).write_text("")
        command = [*compiler, "-E", "-P", "-undef", "-nostdinc", "-DMBG_API=", "-I", empty]
        for folder in includes:
            command += ["-I", folder]
        source = '#include "mbgrad/mbgrad.h"\n'
        done = subprocess.run([*command, "-x", "c", "-"], input=source, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the preprocessor failed:\n{done.stderr}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("compiler")
    parser.add_argument("includes", nargs="+")
    parser.add_argument("-o", "--out", required=True)
    args = parser.parse_args()
    ffi = cffi.FFI()
    ffi.cdef(declarations([args.compiler], args.includes))
    ffi.cdef(OWN)
    ffi.set_source("mbgrad._mbgrad", (HERE / "module.c").read_text(encoding="utf-8"))
    ffi.emit_c_code(args.out)


if __name__ == "__main__":
    main()
