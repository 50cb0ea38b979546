#include "hessian/kinks.h"

#include "expr/expr.h"

/* Does the function have a kink where an argument, a signal or a control passes a value? Kinks at fixed times and
   values of parameters do no harm. */
static bool kinked(const mbg__fn *fn, bool *marks, bool *inputs) {
  mbg__expr_kinked(fn->expr, marks, inputs);
  for (int k = 0; k < fn->ninput && k < mbg__expr_ninputs(fn->expr); k++) {
    const mbg__input_role role = fn->input[k].role;
    if (inputs[k] && (role == MBG__ROLE_ARG || role == MBG__ROLE_SIGNAL || role == MBG__ROLE_CTRL)) {
      return true;
    }
  }
  return false;
}

static void warn(mbg_context *ctx, const mbg__fn *first, int more) {
  const mbg__where *w = mbg__expr_where(first->expr);
  char others[32] = "";
  if (more > 0) {
    mbg__format(others, sizeof(others), " (and %d more)", more);
  }
  mbg__note(ctx, MBG_WARNING,
            "%s:%d:%d: '%s'%s has a kink: second derivatives leave out what each crossing adds, and do not converge to "
            "those of the motion; take a smooth law (smooth_max, tanh, a cubic table)",
            w->file, w->line, w->column, first->text, others);
}

int mbg__hessian_warn_kinks(mbg_context *ctx, const mbg_model *m) {
  mbg__arena arena;
  int lines = 0, ninput = 0, count = 0, err = MBG_OK;
  const mbg__fn *first = NULL;
  for (int i = 0; i < m->nfn; i++) {
    const int l = mbg__expr_lines(m->fns[i].expr), n = mbg__expr_ninputs(m->fns[i].expr);
    lines = l > lines ? l : lines;
    ninput = n > ninput ? n : ninput;
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  bool *marks = MBG_TAKE(&arena, bool, lines + 1), *inputs = MBG_TAKE(&arena, bool, ninput + 1);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  for (int i = 0; i < m->nfn; i++) {
    if (kinked(&m->fns[i], marks, inputs)) {
      first = first ? first : &m->fns[i];
      count++;
    }
  }
  if (first) {
    warn(ctx, first, count - 1);
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}
