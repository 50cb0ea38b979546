/* Pins: values and rates asked for at the start, as equations beside the rows of the constraints. */
#include "start/start_internal.h"

#include "elements/lists.h"
#include "math/dense.h"
#include "start/rank_full.h"

#include <string.h>

static const double pin_tolerance = 1e-9; /* rank of the equations of pins */
static const double pin_certain = 1e-4;   /* its square, with room for a factor of two, is above the tolerance */
enum { PIN_PROOF_MIN = 64 };              /* so many equations are first proved to be independent by sparse factors */

/* a signal of position level as a function of entries of G; false when it is none */
static bool signal_term(const mbg_model *m, const mbg__signal *sig, mbg__term *t) {
  mbg__coord c = {.pair = sig->pair, .sign = 1, .turn = -1};
  int n;
  const mbg__coord_type *const *types = mbg__coord_types(&n);
  if (sig->type->of == MBG__OF_COORD) {
    mbg__term_of_coord(&m->coords[sig->coord], t);
    return true;
  }
  for (int i = 0; i < n; i++) {
    if (!strcmp(sig->type->key, types[i]->key)) { /* distance */
      c.type = types[i];
      mbg__term_of_coord(&c, t);
      return true;
    }
  }
  *t = (mbg__term){
      .pair = sig->pair, .nentry = 1, .law = -1, .attr_sign = 1, .turn = -1, .sign = 1, .factor = -1, .outer = -1};
  if (sig->type->modes || (!strcmp(sig->type->key, "position") && sig->opt[1] == 0)) {
    t->entry[0] = MBG__X1 + sig->opt[0];
    return true;
  }
  if (!strcmp(sig->type->key, "direction")) {
    t->entry[0] = 3 * sig->opt[0] + sig->opt[1];
    return true;
  }
  return false;
}

static int pin_refused(mbg_context *ctx, const mbg__pin *pin, const char *why) {
  return mbg__fail_at(ctx, MBG_ERROR_INPUT, &pin->where, 0, "%s", why);
}

/* value and rate of a function of position */
static void add_term(mbg__start_work *w, int i, const mbg__term *t) {
  const mbg__pin *pin = &w->m->pins[i];
  const mbg__equation e = {.pin = i, .pair = t->pair, .signal = -1, .term = *t, .active = true};
  if (pin->value >= 0) {
    w->values[w->nvalue] = e;
    w->values[w->nvalue++].target = pin->value;
  }
  if (pin->rate >= 0) {
    w->rates[w->nrate] = e;
    w->rates[w->nrate++].target = pin->rate;
  }
}

static int add_signal(mbg_context *ctx, mbg__start_work *w, int i) {
  const mbg__pin *pin = &w->m->pins[i];
  const mbg__signal *sig = &w->m->signals[pin->signal];
  mbg__term t;
  if (sig->level == MBG__LEVEL_POSITION) {
    if (!signal_term(w->m, sig, &t)) {
      return pin_refused(ctx, pin,
                         "at position level, pins take coordinates, positions (in axes A), directions, distances and "
                         "modal coordinates");
    }
    add_term(w, i, &t);
    return MBG_OK;
  }
  if (sig->level != MBG__LEVEL_VELOCITY || pin->value < 0 || pin->rate >= 0) {
    return pin_refused(ctx, pin, "a pinned signal of velocity level takes \"value\" alone, no \"rate\"");
  }
  if (sig->type->role == MBG__ROLE_COORD_RATE) {
    mbg__term_of_coord(&w->m->coords[sig->coord], &t);
    w->rates[w->nrate++] =
        (mbg__equation){.pin = i, .target = pin->value, .pair = t.pair, .signal = -1, .term = t, .active = true};
    return MBG_OK;
  }
  if (sig->type->of != MBG__OF_PAIR) {
    return pin_refused(ctx, pin, "at velocity level, pins take rates, velocities and angular velocities");
  }
  w->rates[w->nrate++] =
      (mbg__equation){.pin = i, .target = pin->value, .pair = sig->pair, .signal = pin->signal, .active = true};
  return MBG_OK;
}

int mbg__pins_create(mbg_context *ctx, mbg__start_work *w) {
  const mbg_model *m = w->m;
  int err = MBG_OK;
  for (int i = 0; i < m->npin; i++) {
    if (m->pins[i].coord >= 0) {
      mbg__term t;
      mbg__term_of_coord(&m->coords[m->pins[i].coord], &t);
      add_term(w, i, &t);
    } else {
      MBG_TRY(add_signal(ctx, w, i));
    }
  }
  if (m->start == MBG__START_EQUILIBRIUM && w->nvalue > 0) {
    err = pin_refused(ctx, &m->pins[w->values[0].pin],
                      "a value cannot be pinned when the start is the equilibrium; give a guess instead");
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- values and gradients */

static void signal_at(const mbg__system *s, const mbg__signal *sig, const real *v, mbg__signal_out *out) {
  const mbg__signal_in in = {.G = &s->G[sig->pair], .v = v, .vd = s->vdrel[sig->pair], .opt = sig->opt};
  *out = (mbg__signal_out){0};
  sig->type->eval(&in, out);
}

void mbg__equation_value(const mbg__start_work *w, const mbg__equation *e, bool rate, real *value, vec6 gradient) {
  const mbg__system *s = w->sys;
  const real target = s->design->attr[e->target];
  if (e->signal >= 0) {
    mbg__signal_out out;
    signal_at(s, &w->m->signals[e->signal], s->vrel[e->pair], &out);
    *value = out.y - target;
    v6_copy(gradient, out.y_v);
    return;
  }
  mbg__term_in in;
  mbg__term_value q;
  mbg__term_in_of(s, &e->term, &in);
  mbg__term_eval(&e->term, &in, &q, NULL);
  *value = (rate ? q.phid : q.phi) - target;
  v6_copy(gradient, q.b);
}

/* adds the wrench -k b^T (or -k y_v^T) and its derivative to the pair, as rows do with their multipliers */
static void inject(mbg__start_work *w, const mbg__equation *e, real k) {
  mbg__system *s = w->sys;
  s->loaded[e->pair] = true;
  if (e->signal < 0) {
    mbg__term_in in;
    mbg__term_value q;
    mbg__term_gradient g;
    mbg__term_in_of(s, &e->term, &in);
    mbg__term_eval(&e->term, &in, &q, &g);
    v6_axpy(s->F[e->pair], -k, q.b);
    m6_axpy(s->F_G[e->pair], -k, g.L);
    return;
  }
  /* y is linear in the twist: (y_v e_j)_G w = y_w at v = e_j */
  const mbg__signal *sig = &w->m->signals[e->signal];
  mbg__signal_out out;
  for (int j = 0; j < 6; j++) {
    real unit[6] = {0};
    unit[j] = 1;
    signal_at(s, sig, unit, &out);
    s->F[e->pair][j] -= k * out.y_v[j];
    v6_axpy(s->F_G[e->pair] + 6 * j, -k, out.y_w);
  }
}

void mbg__pins_inject(mbg__start_work *w, const mbg__equation *eq, int n, const real *k) {
  for (int i = 0; i < n; i++) {
    if (eq[i].active) {
      inject(w, &eq[i], k[i]);
    }
  }
}

void mbg__equation_gradient(const mbg__start_work *w, const mbg__equation *e, bool rate, vec6 gw, vec6 gv) {
  const mbg__system *s = w->sys;
  if (e->signal >= 0) {
    mbg__signal_out out;
    signal_at(s, &w->m->signals[e->signal], s->vrel[e->pair], &out);
    v6_copy(gw, out.y_w);
    v6_copy(gv, out.y_v);
    return;
  }
  mbg__term_in in;
  mbg__term_value q;
  mbg__term_gradient g;
  mbg__term_in_of(s, &e->term, &in);
  mbg__term_eval(&e->term, &in, &q, &g);
  v6_copy(gw, rate ? g.phid_G : q.b);
  v6_zero(gv);
  if (rate) {
    v6_copy(gv, q.b);
  }
}

/* ---------------------------------------------------------------------- rank */

/* an equation that depends on others, and these others: a contradiction names them all */
static int mark_related(mbg_context *ctx, mbg__arena *scratch, const mbg__qr *qr, int rank, mbg__equation *eq) {
  double *T = MBG_TAKE(scratch, double, (size_t)rank *(size_t)(qr->n - rank));
  if (mbg__arena_check(ctx, scratch) < 0) {
    return MBG_ERROR_MEMORY;
  }
  mbg__qr_dependence(qr, rank, T);
  for (int i = 0; i < qr->n; i++) {
    eq[i].related = false;
  }
  for (int d = 0; d < qr->n - rank; d++) {
    eq[qr->column[rank + d]].related = true;
    for (int k = 0; k < rank; k++) {
      eq[qr->column[k]].related = eq[qr->column[k]].related || fabs(T[k + rank * d]) > 1e-6;
    }
  }
  return MBG_OK;
}

/* kept rows, then equations of pins: entries (row, col, val) by the metric */
typedef struct {
  int nrow, count;
  int *row, *col;
  double *val;
  double *length; /* squared, of the rows  (nrow) */
} pin_rows;

static void add_entry(const mbg__start_work *w, pin_rows *x, int row, int column, double value) {
  const double scaled = value / sqrt(w->W[w->m->full[column]]);
  x->row[x->count] = row;
  x->col[x->count] = column;
  x->val[x->count++] = scaled;
  x->length[row] += scaled * scaled;
}

static void list_kept(const mbg__start_work *w, pin_rows *x, const int *place) {
  const mbg__csc *p = &w->sys->patB;
  for (int j = 0; j < w->m->nv; j++) {
    for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++) {
      if (w->result.rank->keep[p->rowind[e]]) {
        add_entry(w, x, place[p->rowind[e]], j, re(w->B[e]));
      }
    }
  }
}

static void list_pin(const mbg__start_work *w, pin_rows *x, const mbg__equation *e, const real *gradient, int row) {
  static const vec6 zero = {0};
  const mbg__system *s = w->sys;
  mbg__kin_pair_pull(s, e->pair, gradient, zero, NULL, &(mbg__cotangent){.w = w->full});
  for (int i = 0; i < mbg__pair_parts(s, e->pair); i++) {
    const int body = mbg__pair_part(s, e->pair, i), off = w->m->bodies[body].voff;
    for (int k = 0; k < s->nfree[body]; k++) {
      add_entry(w, x, row, w->m->dof[off + s->free_[body][k]], re(w->full[off + s->free_[body][k]]));
    }
    v6_zero(w->full + off);
  }
}

/* Many equations: do sparse factors prove that they and the kept rows are independent? */
static int prove_pins(mbg_context *ctx, mbg__start_work *w, int n, const mbg__equation *eq, bool *proved) {
  const mbg__rank *rank = w->result.rank;
  mbg__arena scratch;
  pin_rows x = {.nrow = rank->nkept + n};
  int err = MBG_OK, most = mbg__csc_count(&w->sys->patB);
  double sigma = 0;
  *proved = false;
  for (int i = 0; i < n; i++) {
    most += 6 * mbg__pair_parts(w->sys, eq[i].pair);
  }
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  int *place = MBG_TAKE(&scratch, int, rank->nrow);
  x.row = MBG_TAKE(&scratch, int, most);
  x.col = MBG_TAKE(&scratch, int, most);
  x.val = MBG_TAKE(&scratch, double, most);
  x.length = MBG_TAKE(&scratch, double, x.nrow);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  for (int i = 0; i < rank->nkept; i++) {
    place[rank->kept[i]] = i;
  }
  list_kept(w, &x, place);
  vn_zero(w->m->nw, w->full);
  for (int i = 0; i < n; i++) {
    list_pin(w, &x, &eq[i], w->gradient[i], rank->nkept + i);
  }
  for (int k = 0; k < x.count; k++) {
    x.val[k] /= x.length[x.row[k]] > 0 ? sqrt(x.length[x.row[k]]) : 1;
  }
  MBG_TRY(mbg__rows_independence(ctx, x.nrow, w->m->nv, x.count, x.row, x.col, x.val, &sigma));
  *proved = sigma > pin_certain;
done:
  mbg__arena_destroy(&scratch);
  return err;
}

/* Gram matrix of the equations' gradients, projected on the motions that the kept rows allow; dependent ones become
   inactive. Returns the number of independent ones, or a negative status. */
static int factor_pins(mbg_context *ctx, mbg__start_work *w, mbg__kkt *kkt, mbg__equation *eq) {
  const int n = kkt->npin, nv = w->m->nv;
  mbg__arena scratch;
  mbg__qr qr;
  int err = MBG_OK, rank = 0;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  real *P = MBG_TAKE(&scratch, real, (size_t)n * (size_t)nv);
  (void)mbg__qr_prepare(&qr, &scratch, n, n);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  for (int i = 0; i < n; i++) {
    static const vec6 zero = {0};
    vn_zero(w->m->nw, w->full);
    mbg__kin_pair_pull(w->sys, eq[i].pair, w->gradient[i], zero, NULL, &(mbg__cotangent){.w = w->full});
    mbg__to_free(w->m, 1, w->full, P + (size_t)i * (size_t)nv);
    eq[i].active = false;
  }
  const mbg__kkt_fill fill = {
      .diagonal = 1, .B = w->B, .keep = w->result.rank->keep, .eq = eq, .gradient = w->gradient};
  MBG_TRY(mbg__kkt_factor(ctx, w, kkt, &fill, "pins"));
  for (int i = 0; i < n; i++) {
    vn_zero(kkt->n, kkt->x);
    vn_copy(nv, kkt->x, P + (size_t)i * (size_t)nv);
    double own = 0;
    for (int j = 0; j < nv; j++) {
      own += re(kkt->x[j] * kkt->x[j]) / w->W[w->m->full[j]];
    }
    mbg__klu_solve(kkt->saddle.klu, kkt->x, 1);
    for (int k = 0; k < n; k++) {
      qr.A[k + n * i] = re(vn_dot(nv, P + (size_t)k * (size_t)nv, kkt->x)) / (own > 0 ? own : 1);
    }
  }
  if (mbg__qr_factor(&qr) < 0) {
    err = mbg__fail(ctx, MBG_ERROR_SINGULAR, "the equations of the pins are not finite");
    goto done;
  }
  /* columns are scaled to their own length: a pin that the rows forbid to move has an absolutely small column */
  while (rank < n && fabs(qr.A[rank * (n + 1)]) > pin_tolerance) {
    eq[qr.column[rank++]].active = true;
  }
  MBG_TRY(mark_related(ctx, &scratch, &qr, rank, eq));
done:
  mbg__arena_destroy(&scratch);
  return err < 0 ? err : rank;
}

int mbg__pins_rank(mbg_context *ctx, mbg__start_work *w, mbg__kkt *kkt, mbg__equation *eq) {
  bool proved = false;
  if (kkt->npin == 0) {
    return 0;
  }
  const int err = kkt->npin < PIN_PROOF_MIN ? MBG_OK : prove_pins(ctx, w, kkt->npin, eq, &proved);
  if (err < 0 || !proved) {
    return err < 0 ? err : factor_pins(ctx, w, kkt, eq);
  }
  for (int i = 0; i < kkt->npin; i++) {
    eq[i].active = true;
    eq[i].related = false;
  }
  return kkt->npin;
}

/* names of the pins whose equations depend on each other */
void mbg__pins_list(const mbg__start_work *w, const mbg__equation *eq, int n, char *buffer, size_t size) {
  buffer[0] = 0;
  for (int i = 0; i < n; i++) {
    if (eq[i].related) {
      const size_t used = strlen(buffer);
      mbg__format(buffer + used, size - used, "%s'%s'", used ? ", " : "", w->m->pins[eq[i].pin].name);
    }
  }
}

int mbg__pins_contradict(mbg_context *ctx, const mbg__start_work *w, const mbg__equation *eq, int n, double residual,
                         const char *what) {
  char names[512];
  mbg__pins_list(w, eq, n, names, sizeof(names));
  return mbg__fail(ctx, MBG_ERROR_INPUT,
                   "the pinned %s contradict each other or the joints (residual %.3g): look at pin %s", what, residual,
                   names[0] ? names : "values out of reach");
}
