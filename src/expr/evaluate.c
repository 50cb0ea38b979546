/* evaluate: the forward and the reverse sweep.

   Forward, each line gives its jet v and, when derivatives are wanted, the jets of its partial derivatives by its
   operands. Reverse, the adjoint jet of a line is df/dv as a function of time, so that the chain rule is a product
   of jets:  a_bar += v_bar * (dv/da). Lines that were not reached have adjoint 0 and are passed over. */
#include "expr/jet.h"
#include "expr/program.h"
#include <string.h>

/* carved from the caller's scratch, each n lines of order+1 coefficients */
typedef struct {
  real *v, *pa, *pb, *bar;
} sweep;

static sweep carve(const mbg__expr *e, int order, real *scratch) {
  const size_t block = (size_t)e->n * (size_t)(order + 1);
  return (sweep){scratch, scratch + block, scratch + 2 * block, scratch + 3 * block};
}

size_t mbg__expr_scratch(const mbg__expr *e) { return 12 * (size_t)e->n + 4 * (size_t)e->ninputs; }

/* ---------------------------------------------------------------------- forward */

static int load(mbg_context *ctx, const mbg__expr *e, const mbg__line *line, int K, const real *x, real *v) {
  if (line->op == OP_constant) {
    jet_constant(K, line->value, v);
    return MBG_OK;
  }
  jet_copy(K, x + (size_t)(K + 1) * (size_t)line->c, v);
  for (int k = 0; k <= K; k++) {
    if (!isfinite(re(v[k]))) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, &e->where, line->at,
                          k ? "the derivative of this name is not finite" : "the value of this name is not finite");
    }
  }
  return MBG_OK;
}

/* the line that follows a jump at line i */
static int target(const mbg__line *line, int i, const real *condition) {
  const bool zero = re(condition[0]) == 0;
  const bool jumps = line->op == OP_jump || (line->op == OP_unless ? zero : !zero);
  return jumps ? line->c : i + 1;
}

static void choose(const mbg__line *line, mbg__depth depth, bool first, const sweep *s, size_t at) {
  const size_t width = (size_t)depth.order + 1;
  jet_copy(depth.order, s->v + width * (size_t)(first ? line->a : line->b), s->v + at);
  if (depth.partials) {
    jet_constant(depth.order, first, s->pa + at);
    jet_constant(depth.order, !first, s->pb + at);
  }
}

/* Constants, inputs and the plain operations of values, at order 0; false: another line, or no finite value, for which
   the general way has the words. A square: its exponent is a constant. */
static bool plain(const mbg__expr *e, const mbg__line *line, bool partials, const real *x, const sweep *s, int i) {
  const real *a = s->v + line->a, *b = s->v + line->b;
  real value, by_a = 1, by_b = 1;
  switch (line->op) {
  case OP_constant:
    jet_constant(0, line->value, s->v + i);
    return true;
  case OP_input:
    s->v[i] = x[line->c];
    return isfinite(re(s->v[i]));
  case OP_add:
    value = *a + *b;
    break;
  case OP_subtract:
    value = *a - *b;
    by_b = -1;
    break;
  case OP_multiply:
    value = *a * *b;
    by_a = *b;
    by_b = *a;
    break;
  case OP_power:
    if (e->code[line->b].op != OP_constant || e->code[line->b].value != 2) {
      return false;
    }
    value = *a * *a;
    by_a = 2 * *a;
    by_b = 0;
    break;
  default:
    return false;
  }
  if (!isfinite(re(value))) {
    return false;
  }
  s->v[i] = value;
  if (partials) {
    s->pa[i] = by_a;
    s->pb[i] = by_b;
  }
  return true;
}

static int forward(mbg_context *ctx, const mbg__expr *e, mbg__depth depth, const real *x, const sweep *s) {
  const size_t width = (size_t)depth.order + 1;
  for (int i = 0; i < e->n;) {
    const mbg__line *line = e->code + i;
    if (depth.order == 0 && plain(e, line, depth.partials, x, s, i)) {
      i++;
      continue;
    }
    const size_t at = width * (size_t)i;
    const real *a = s->v + width * (size_t)line->a, *b = s->v + width * (size_t)line->b;
    const mbg__kind kind = mbg__operations[line->op].kind;
    if (kind == KIND_jump) {
      i = target(line, i, a);
      continue;
    }
    if (kind == KIND_leaf) {
      const int err = load(ctx, e, line, depth.order, x, s->v + at);
      if (err < 0) {
        return err;
      }
    } else if (kind == KIND_choice) {
      choose(line, depth, re(s->v[width * (size_t)line->c]) != 0, s, at);
    } else {
      const char *complaint =
          mbg__line_apply(line, depth, e->code[line->b].active, a, b, s->v + at, s->pa + at, s->pb + at);
      if (complaint) {
        return mbg__line_fail(ctx, &e->where, line, re(a[0]), re(b[0]), complaint);
      }
    }
    i++;
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- reverse */

static bool is_zero(int K, const real *u) {
  for (int k = 0; k <= K; k++) {
    if (r_some(u[k] != 0)) {
      return false;
    }
  }
  return true;
}

/* bar += v_bar p; false when the sum is not finite */
static bool push(int K, const real *v_bar, const real *p, real *bar) {
  real product[3];
  jet_multiply(K, v_bar, p, product);
  bool finite = true;
  for (int k = 0; k <= K; k++) {
    bar[k] += product[k];
    finite = finite && isfinite(re(bar[k]));
  }
  return finite;
}

/* adjoints of the operands of line i */
static bool push_line(const mbg__expr *e, int K, int i, const sweep *s) {
  const size_t width = (size_t)K + 1, at = width * (size_t)i;
  const mbg__line *line = e->code + i;
  bool finite = true;
  if (e->code[line->a].active) {
    finite = push(K, s->bar + at, s->pa + at, s->bar + width * (size_t)line->a);
  }
  if (mbg__operations[line->op].kind != KIND_unary && e->code[line->b].active) {
    finite = push(K, s->bar + at, s->pb + at, s->bar + width * (size_t)line->b) && finite;
  }
  return finite;
}

static int reverse(mbg_context *ctx, const mbg__expr *e, int K, const sweep *s, real *g) {
  const size_t width = (size_t)K + 1;
  for (size_t k = 0; k < width * (size_t)e->n; k++) {
    s->bar[k] = 0;
  }
  for (size_t k = 0; k < width * (size_t)e->ninputs; k++) {
    g[k] = 0;
  }
  s->bar[width * (size_t)(e->n - 1)] = 1;
  for (int i = e->n - 1; i >= 0; i--) {
    const mbg__line *line = e->code + i;
    const real *bar = s->bar + width * (size_t)i;
    if (!line->active || is_zero(K, bar)) {
      continue;
    }
    if (line->op == OP_input) {
      for (size_t k = 0; k < width; k++) {
        g[width * (size_t)line->c + k] += bar[k];
      }
    } else if (!push_line(e, K, i, s)) {
      const double a = re(s->v[width * (size_t)line->a]), b = re(s->v[width * (size_t)line->b]);
      return mbg__line_fail(ctx, &e->where, line, a, b, "the derivative is not finite");
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- evaluations */

/* f: order+1 coefficients; g: order+1 for each input, or NULL */
static int evaluate(mbg_context *ctx, const mbg__expr *e, int order, const real *x, real *scratch, real *f, real *g) {
  const sweep s = carve(e, order, scratch);
  const mbg__depth depth = {order, g || order > 0};
  int err = MBG_OK;
  MBG_TRY(forward(ctx, e, depth, x, &s));
  jet_copy(order, s.v + (size_t)(order + 1) * (size_t)(e->n - 1), f);
  if (g) {
    MBG_TRY(reverse(ctx, e, order, &s, g));
  }
done:
  return err;
}

int mbg__expr_value(mbg_context *ctx, const mbg__expr *e, const real *x, real *scratch, real *f) {
  return evaluate(ctx, e, 0, x, scratch, f, NULL);
}

int mbg__expr_gradient(mbg_context *ctx, const mbg__expr *e, const real *x, real *scratch, real *f, real *g) {
  return evaluate(ctx, e, 0, x, scratch, f, g);
}

/* the mean of h and its transpose: equal up to rounding */
static void symmetrize(size_t n, real *h) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) {
      h[i * n + j] = h[j * n + i] = 0.5 * (h[i * n + j] + h[j * n + i]);
    }
  }
}

int mbg__expr_hessian(mbg_context *ctx, const mbg__expr *e, const real *x, real *scratch, real *f, real *g, real *h) {
  const size_t n = (size_t)e->ninputs;
  real *xj = scratch + 8 * (size_t)e->n, *gj = xj + 2 * n, fj[2];
  int err = MBG_OK;
  MBG_TRY(evaluate(ctx, e, 0, x, scratch, f, g));
  for (size_t k = 0; k < n * n; k++) {
    h[k] = 0;
  }
  for (int u = 0; u < e->nused; u++) {
    xj[2 * e->inputs[u]] = x[e->inputs[u]];
    xj[2 * e->inputs[u] + 1] = 0;
  }
  /* column j: the gradient's derivative along x_j */
  for (int u = 0; u < e->nused; u++) {
    const int j = e->inputs[u];
    xj[2 * j + 1] = 1;
    MBG_TRY(evaluate(ctx, e, 1, xj, scratch, fj, gj));
    xj[2 * j + 1] = 0;
    for (size_t i = 0; i < n; i++) {
      h[i * n + (size_t)j] = gj[2 * i + 1];
    }
  }
  symmetrize(n, h);
done:
  return err;
}

int mbg__expr_jet(mbg_context *ctx, const mbg__expr *e, const real *xj, real *scratch, real f[3], real *g) {
  return evaluate(ctx, e, 2, xj, scratch, f, g);
}

/* ---------------------------------------------------------------------- what it uses */

int mbg__expr_ninputs(const mbg__expr *e) { return e->ninputs; }

const int *mbg__expr_inputs(const mbg__expr *e, int *count) {
  *count = e->nused;
  return e->inputs;
}

bool mbg__expr_is_constant(const mbg__expr *e) { return e->code[e->n - 1].op == OP_constant; }

const mbg__where *mbg__expr_where(const mbg__expr *e) { return &e->where; }

const mbg__spline *mbg__expr_knots_of(const mbg__expr *e, int input, int k) {
  for (int i = 0; i < e->n; i++) {
    const mbg__line *line = &e->code[i];
    const int arguments = line->op == OP_table ? 1 : line->op == OP_grid ? 2 : 0;
    for (int j = 0; j < arguments; j++) {
      const mbg__line *argument = &e->code[j == 0 ? line->a : line->b];
      if (argument->op == OP_input && argument->c == input && k-- == 0) {
        return mbg__table_knots(line->table, j);
      }
    }
  }
  return NULL;
}

const mbg__table *mbg__expr_rough_table(const mbg__expr *e) {
  for (int i = 0; i < e->n; i++) {
    const bool table = e->code[i].op == OP_table || e->code[i].op == OP_grid;
    if (table && mbg__table_interpolation(e->code[i].table) != MBG__CUBIC) {
      return e->code[i].table;
    }
  }
  return NULL;
}

static bool is_switch(const mbg__line *line) {
  return mbg__operations[line->op].kind == KIND_truth || line->op == OP_sign || line->op == OP_unless ||
         line->op == OP_when;
}

bool mbg__expr_has_switch(const mbg__expr *e) {
  for (int i = 0; i < e->n; i++) {
    if (is_switch(&e->code[i])) {
      return true;
    }
  }
  return false;
}

int mbg__expr_lines(const mbg__expr *e) { return e->n; }

/* a jump of the value, or of its slope */
static bool is_kink(const mbg__line *line) {
  return is_switch(line) || line->op == OP_abs || line->op == OP_min || line->op == OP_max ||
         ((line->op == OP_table || line->op == OP_grid) && mbg__table_interpolation(line->table) == MBG__LINEAR);
}

/* inputs on which the arguments of lines depend for which `which` is true */
static void mark_inputs(const mbg__expr *e, bool (*which)(const mbg__line *), bool *marks, bool *inputs) {
  memset(marks, 0, (size_t)e->n * sizeof(bool));
  memset(inputs, 0, (size_t)e->ninputs * sizeof(bool));
  for (int i = e->n - 1; i >= 0; i--) {
    const mbg__line *line = &e->code[i];
    const mbg__kind kind = mbg__operations[line->op].kind;
    const bool one = kind == KIND_unary || line->op == OP_table || line->op == OP_not || kind == KIND_jump;
    if (line->op == OP_input && marks[i]) {
      inputs[line->c] = true;
    }
    if (kind == KIND_leaf && line->op != OP_table) {
      continue;
    }
    if (marks[i] || which(line)) {
      marks[line->a] = marks[line->a] || line->op != OP_jump;
      marks[line->b] = marks[line->b] || !one;
    }
    if (kind == KIND_choice) {
      marks[line->c] = true;
    }
  }
}

void mbg__expr_deciding(const mbg__expr *e, bool *marks, bool *inputs) { mark_inputs(e, is_switch, marks, inputs); }

void mbg__expr_kinked(const mbg__expr *e, bool *marks, bool *inputs) { mark_inputs(e, is_kink, marks, inputs); }
