/* Parameters that decide a comparison, a condition of `if`, or a sign: what they do there is not differentiated. */
#include "problems/check.h"

#include "expr/expr.h"

typedef struct {
  const mbg_model *m;
  const mbg__expr **symbol;    /* the expression where an entry of s = (p, constants) decides, or NULL */
  const mbg__expr **attribute; /* the same of attributes                                            (na) */
  bool *inputs;                /* of one expression */
  bool *marks;                 /* of its lines */
} finder;

static void mark(const mbg__expr **slot, const mbg__expr *expr) { *slot = *slot ? *slot : expr; }

/* attributes that decide something in a function of the file or in a combination of criteria */
static void visit_inputs(finder *f, const mbg__expr *expr, int ninput, const mbg__input *input) {
  mbg__expr_deciding(expr, f->marks, f->inputs);
  for (int k = 0; k < ninput && k < mbg__expr_ninputs(expr); k++) {
    if (f->inputs[k] && input[k].role == MBG__ROLE_ATTR) {
      mark(&f->attribute[input[k].index], expr);
    }
  }
}

/* symbols that decide something in a formula; all of them when its result does, in `outer` */
static void visit_formula(finder *f, const mbg__formula *formula, const mbg__expr *outer) {
  if (!formula->expr) {
    return;
  }
  const int ninput = mbg__formula_inputs(formula);
  mbg__expr_deciding(formula->expr, f->marks, f->inputs);
  for (int k = 0; k < ninput; k++) {
    if (f->inputs[k] || outer) {
      mark(&f->symbol[formula->input[k]], f->inputs[k] ? formula->expr : outer);
    }
  }
}

typedef struct {
  int lines, inputs;
  bool any; /* of them decides something */
} sizes;

static void larger(sizes *s, const mbg__expr *expr) {
  if (expr) {
    const int lines = mbg__expr_lines(expr), inputs = mbg__expr_ninputs(expr);
    s->lines = lines > s->lines ? lines : s->lines;
    s->inputs = inputs > s->inputs ? inputs : s->inputs;
    s->any = s->any || mbg__expr_has_switch(expr);
  }
}

static sizes largest(const mbg_model *m) {
  sizes s = {0};
  for (int i = 0; i < m->nfn; i++) {
    larger(&s, m->fns[i].expr);
  }
  for (int i = 0; i < m->ncriterion; i++) {
    larger(&s, m->criteria[i].expr);
  }
  for (int i = 0; i < m->na; i++) {
    larger(&s, m->attributes[i].formula.expr);
  }
  for (int i = 0; i < m->nconstant; i++) {
    larger(&s, m->constants[i].formula.expr);
  }
  return s;
}

static bool take(finder *f, mbg__arena *arena, const sizes *s) {
  const mbg_model *m = f->m;
  f->symbol = MBG_TAKE(arena, const mbg__expr *, m->np + m->nconstant);
  f->attribute = MBG_TAKE(arena, const mbg__expr *, m->na);
  f->inputs = MBG_TAKE(arena, bool, s->inputs);
  f->marks = MBG_TAKE(arena, bool, s->lines);
  return !arena->failed;
}

int mbg__check_switches(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, const mbg__where **at) {
  finder f = {.m = m};
  const sizes s = largest(m);
  if (!s.any) {
    return MBG_OK;
  }
  if (!take(&f, arena, &s)) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < m->nfn; i++) {
    visit_inputs(&f, m->fns[i].expr, m->fns[i].ninput, m->fns[i].input);
  }
  for (int i = 0; i < m->ncriterion; i++) {
    if (m->criteria[i].expr) {
      visit_inputs(&f, m->criteria[i].expr, m->criteria[i].ninput, m->criteria[i].input);
    }
  }
  for (int i = 0; i < m->na; i++) {
    visit_formula(&f, &m->attributes[i].formula, f.attribute[i]);
  }
  for (int i = m->nconstant - 1; i >= 0; i--) { /* a constant refers to those before it */
    visit_formula(&f, &m->constants[i].formula, f.symbol[m->np + i]);
  }
  for (int i = 0; i < m->nparameter; i++) {
    const mbg__parameter *p = &m->parameters[i];
    for (int k = 0; k < p->count && !at[i]; k++) {
      at[i] = f.symbol[p->first + k] ? mbg__expr_where(f.symbol[p->first + k]) : NULL;
    }
  }
  return MBG_OK;
}
