#include "formulations/dca/dca_project.h"

#include "start/rank_parts.h"
#include "system/system_internal.h"

#include <string.h>

struct mbg__dca_project {
  const mbg_model *m;
  mbg__system *sys;
  const mbg__design *design;
  mbg__tree *tree;
  mbg__dca_flow *flow;
  mbg__dca_assembly *assembly, *frames; /* of rates; of frames, which rows on rates do not hold */
  mbg__dca_panel *panel, *frames_panel;
  int n, nfree;
  const int *free_rows;
  real *M, *B;
  real *phi;                          /*                                  (nrow) */
  real *x;                            /*                                  ((nv + nrow) x panel) */
  real *u, *lambda, *d;               /* of the current solve             (nw), (nrow), (n) */
  real *v, *r, *rows, *c, *zero;      /*                                  (nw), (nw), (nrow), (nw), (nw or nrow) */
  real *w, *dv, *k;                   /* of a panel                       (panel x nw) */
  real *top, *bottom;                 /* ... right sides                  (panel x nw), (panel x nrow) */
  mbg__frame *E[MBG__DCA_ROUNDS + 1]; /* before each solve of frames      (nbody) */
  real *D[MBG__DCA_ROUNDS];           /* its increments                   (n) */
  int *turns, *near;                  /* of the current place; scratch    (nturn) */
  real *dummy, *dd, *gn;              /*                                  (n), (panel x n), (6 nbody) */
};

static int take_arrays(mbg_context *ctx, mbg__arena *arena, mbg__dca_project *p) {
  const mbg_model *m = p->m;
  const size_t nw = (size_t)m->nw, nr = (size_t)m->nrow, wide = MBG__DCA_PANEL;
  p->M = MBG_TAKE(arena, real, mbg__csc_count(mbg__system_pattern_K(p->sys)));
  p->B = MBG_TAKE(arena, real, mbg__csc_count(mbg__system_pattern_B(p->sys)));
  p->phi = MBG_TAKE(arena, real, nr);
  p->x = MBG_TAKE(arena, real, ((size_t)m->nv + nr) * wide);
  p->u = MBG_TAKE(arena, real, nw);
  p->lambda = MBG_TAKE(arena, real, nr);
  p->d = MBG_TAKE(arena, real, p->n);
  p->v = MBG_TAKE(arena, real, nw);
  p->r = MBG_TAKE(arena, real, nw);
  p->rows = MBG_TAKE(arena, real, nr);
  p->c = MBG_TAKE(arena, real, nw);
  p->zero = MBG_TAKE(arena, real, nw + nr + (size_t)p->n);
  p->w = MBG_TAKE(arena, real, nw * wide);
  p->dv = MBG_TAKE(arena, real, nw * wide);
  p->k = MBG_TAKE(arena, real, nw * wide);
  p->top = MBG_TAKE(arena, real, nw * wide);
  p->bottom = MBG_TAKE(arena, real, nr * wide);
  p->turns = MBG_TAKE(arena, int, m->nturn);
  p->near = MBG_TAKE(arena, int, m->nturn);
  p->dummy = MBG_TAKE(arena, real, p->n);
  p->dd = MBG_TAKE(arena, real, (size_t)p->n * wide);
  p->gn = MBG_TAKE(arena, real, 6 * (size_t)m->nbody);
  for (int i = 0; i <= MBG__DCA_ROUNDS; i++) {
    p->E[i] = MBG_TAKE(arena, mbg__frame, m->nbody);
  }
  for (int i = 0; i < MBG__DCA_ROUNDS; i++) {
    p->D[i] = MBG_TAKE(arena, real, p->n);
  }
  return mbg__dca_panel_create(ctx, arena, p->assembly, MBG__DCA_PANEL, NULL, &p->panel);
}

/* the equations of frames: rows of positions alone (theory 8, section 5) */
static int create_frames(mbg_context *ctx, mbg__arena *arena, mbg__dca_project *p, const mbg__rank *rank) {
  int err = MBG_OK;
  p->frames = p->assembly;
  p->frames_panel = p->panel;
  if (mbg__rank_kept_rates(p->m, rank) == 0) {
    return MBG_OK;
  }
  mbg__rank *own = mbg__rank_take(ctx, arena, p->m->nrow);
  MBG_TRY(own ? MBG_OK : MBG_ERROR_MEMORY);
  for (int i = 0; i < p->m->nrow; i++) {
    own->keep[i] = rank->keep[i] && !p->m->rows[i].rate;
  }
  mbg__rank_list(own);
  MBG_TRY(mbg__dca_assembly_create(ctx, arena, p->sys, own, NULL, &p->frames));
  MBG_TRY(mbg__dca_panel_create(ctx, arena, p->frames, MBG__DCA_PANEL, NULL, &p->frames_panel));
done:
  return err;
}

int mbg__dca_project_create(mbg_context *ctx, mbg__arena *arena, mbg__dca_flow *flow, mbg__dca_assembly *assembly,
                            const mbg__rank *rank, mbg__dca_project **out) {
  const int *rows;
  const int nfree = mbg__tree_rows(flow->tree, &rows);
  *out = NULL;
  if (nfree == 0) {
    return MBG_OK;
  }
  mbg__dca_project *p = MBG_TAKE(arena, mbg__dca_project, 1);
  if (!p) {
    return mbg__fail_memory(ctx);
  }
  *p = (mbg__dca_project){.m = flow->m,
                          .sys = flow->sys,
                          .design = mbg__system_design(flow->sys),
                          .tree = flow->tree,
                          .flow = flow,
                          .assembly = assembly,
                          .n = flow->n,
                          .nfree = nfree,
                          .free_rows = rows};
  *out = p;
  const int err = take_arrays(ctx, arena, p);
  return err < 0 ? err : create_frames(ctx, arena, p, rank);
}

/* ---------------------------------------------------------------------- one solve */

/* the system at (t, E, w) with whole turns that bring its coordinates next to q */
static int place(mbg_context *ctx, mbg__dca_project *p, real t, const real *q, const mbg__frame *E, const real *w) {
  const size_t size = (size_t)p->m->nturn * sizeof(int);
  int err = MBG_OK;
  mbg__tree_place(p->tree, &(mbg__tree_state){.t = t, .E = E, .w = w, .turns = p->turns});
  mbg__state bodies = mbg__tree_bodies(p->tree);
  bodies.vd = NULL;
  memcpy(p->v, bodies.v, (size_t)p->m->nw * sizeof(real));
  MBG_TRY(mbg__system_update_bare(ctx, p->sys, &bodies));
  if (p->m->nturn > 0) {
    mbg__system_turns(p->sys, q, p->near);
    if (memcmp(p->near, p->turns, size) != 0) {
      memcpy(p->turns, p->near, size);
      MBG_TRY(mbg__system_update_bare(ctx, p->sys, &bodies));
    }
  }
done:
  return err;
}

/* constraints at (t, E, w): twists v and violations phi (rates: of the rates); then factors */
static int at(mbg_context *ctx, mbg__dca_project *p, real t, const real *q, const mbg__frame *E, const real *w,
              bool rates) {
  int err = MBG_OK;
  MBG_TRY(place(ctx, p, t, q, E, w));
  mbg__system_residual(p->sys, NULL, rates ? NULL : p->phi, rates ? p->phi : NULL, NULL, NULL);
  mbg__system_matrices(p->sys, &(mbg__matrices){.M = p->M, .B = p->B});
  MBG_TRY(mbg__dca_assembly_factor(ctx, rates ? p->assembly : p->frames, p->M, p->B, re(t)));
done:
  return err;
}

static int worst_row(const mbg__dca_project *p) {
  int row = p->free_rows[0];
  for (int i = 1; i < p->nfree; i++) {
    row = !(fabs(re(p->phi[p->free_rows[i]])) <= fabs(re(p->phi[row]))) ? p->free_rows[i] : row;
  }
  return row;
}

static double largest(const mbg__dca_project *p) { return fabs(re(p->phi[worst_row(p)])); }

/* Newton's method does not close the loops, which a step has opened by `drift` */
static int stays_open(mbg_context *ctx, const mbg__dca_project *p, double t, double drift) {
  char label[160];
  const int row = worst_row(p);
  mbg__row_label(p->m, row, label, sizeof(label));
  return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                   "t = %.6g: the loop at %s cannot be closed: the step opened it by %.2e, and %.2e is left after %d "
                   "corrections; the mechanism locks there, or the step is too large",
                   mbg__time_shown(t), label, drift, fabs(re(p->phi[row])), MBG__DCA_ROUNDS - 1);
}

static void solve(mbg__dca_project *p, bool rates, int ncol) {
  (void)mbg__dca_assembly_solve(rates ? p->assembly : p->frames, rates ? p->panel : p->frames_panel, ncol, p->x);
}

/* K (u, lambda) = (0, -phi), d from u */
static void correct(mbg__dca_project *p, bool rates) {
  memset(p->rows, 0, (size_t)p->m->nrow * sizeof(real));
  for (int i = 0; i < p->nfree; i++) {
    p->rows[p->free_rows[i]] = p->phi[p->free_rows[i]];
  }
  mbg__dca_pack(p->m, 0, 1, -1, NULL, p->rows, p->x);
  solve(p, rates, 1);
  mbg__dca_unpack(p->m, 0, 1, p->x, p->u, p->lambda);
  mbg__tree_joint_twists(p->tree, p->u, p->d);
}

int mbg__dca_project_apply(mbg_context *ctx, mbg__dca_project *p, real t, const real *q, mbg__frame *E, real *w,
                           int *rounds, double drift[2]) {
  const double size = fmax(1, p->m->size);
  int err = MBG_OK, round = 0;
  for (; round < MBG__DCA_ROUNDS; round++) {
    MBG_TRY(at(ctx, p, t, q, E, p->zero, false));
    const double now = largest(p);
    if (round == 0) {
      drift[0] = now;
    }
    if (round > 0 && now <= 1e-12 * size) {
      break;
    }
    if (!(now <= (round < MBG__DCA_ROUNDS - 1 ? 1e3 : 1e-5) * size)) {
      err = stays_open(ctx, p, re(t), drift[0]);
      goto done;
    }
    correct(p, false);
    memcpy(p->E[0], E, (size_t)p->m->nbody * sizeof(*E));
    mbg__tree_move(p->tree, p->E[0], p->d, E);
  }
  *rounds = round;
  MBG_TRY(at(ctx, p, t, q, E, w, true));
  drift[1] = largest(p);
  correct(p, true);
  vn_axpy(p->n, w, 1, p->d);
done:
  return err;
}

/* ---------------------------------------------------------------------- derivatives of a solve */

/* the system at the solution, linearized: twists v + u (of rates), or u, with the multipliers */
static int linearize(mbg_context *ctx, mbg__dca_project *p, real t) {
  int err = MBG_OK;
  vn_add(p->m->nw, p->v, p->v, p->u);
  mbg__state bodies = mbg__tree_bodies(p->tree);
  bodies.vd = NULL;
  bodies.v = p->v;
  bodies.lambda = p->lambda;
  bodies.t = t;
  bodies.turns = p->turns;
  MBG_TRY(mbg__system_update_bare(ctx, p->sys, &bodies));
  MBG_TRY(mbg__system_linearize(ctx, p->sys));
  mbg__tree_rates(p->tree, p->d, p->u);
done:
  return err;
}

static bool rigid(const mbg__body *b) { return b->modal < 0 && b->carrier < 0; }

/* out += M_a da u, and transposed: ga -= z . M_a u */
static void inertia_push(const mbg__dca_project *p, const real *da, real *out) {
  for (int b = 0; da && b < p->m->nbody; b++) {
    const mbg__body *body = &p->m->bodies[b];
    for (int i = 0; rigid(body) && i < body->nattr; i++) {
      if (da[body->attr + i] != 0) {
        real x[6];
        m6_mulv(x, p->design->M_a[b] + 36 * i, p->u + body->voff);
        v6_axpy(out + body->voff, da[body->attr + i], x);
      }
    }
  }
}

static void inertia_pull(const mbg__dca_project *p, const real *z, real *ga) {
  for (int b = 0; ga && b < p->m->nbody; b++) {
    const mbg__body *body = &p->m->bodies[b];
    for (int i = 0; rigid(body) && i < body->nattr; i++) {
      real x[6];
      m6_mulv(x, p->design->M_a[b] + 36 * i, p->u + body->voff);
      ga[body->attr + i] += v6_dot(z + body->voff, x);
    }
  }
}

static real *column(real *x, int q, int n) { return x + (size_t)q * (size_t)n; }

static void only_free(const mbg__dca_project *p, const real *x, real *out) {
  memset(out, 0, (size_t)p->m->nrow * sizeof(real));
  for (int i = 0; i < p->nfree; i++) {
    out[p->free_rows[i]] = x[p->free_rows[i]];
  }
}

/* the change of d of ncol columns, at most a panel, in the directions (e, dw, attributes) into dd */
static void solve_push(mbg__dca_project *p, bool rates, int ncol, real *const *e, real *const *dw,
                       const mbg__dca_attributes *attributes) {
  const int nw = p->m->nw, nr = p->m->nrow;
  for (int q = 0; q < ncol; q++) {
    real *w = column(p->w, q, nw), *dv = column(p->dv, q, nw), *top = column(p->top, q, nw),
         *bottom = column(p->bottom, q, nr);
    const mbg__tree_direction d = {.e = e[q], .dw = rates ? dw[q] : NULL, .attributes = attributes->da};
    const mbg__direction x = {.w = w, .dv = rates ? dv : NULL, .da = attributes->da};
    mbg__event_tangent_lay(attributes->columns, attributes->first + q, attributes->da);
    mbg__tree_local_push(p->tree, &d, true, w, dv, column(p->k, q, nw));
    mbg__system_push(p->sys, &x, top, p->phi, bottom, NULL);
    inertia_push(p, attributes->da, top);
    mbg__modals_mass_push(p->sys, p->u, w, attributes->da, top);
    mbg__beams_mass_push(p->sys, p->u, attributes->da, top);
    mbg__event_tangent_clear(attributes->columns, attributes->first + q, attributes->da);
    if (!rates) {
      only_free(p, p->phi, p->rows);
      vn_axpy(nr, bottom, 1, p->rows);
    }
  }
  /* the frames' equation phi + B u = 0 does not contain phi_t */
  if (!rates) {
    mbg__system_constraints_at(p->sys, p->zero, p->zero);
    for (int q = 0; q < ncol; q++) {
      const mbg__direction x = {.w = column(p->w, q, nw), .da = attributes->da};
      mbg__event_tangent_lay(attributes->columns, attributes->first + q, attributes->da);
      mbg__system_push(p->sys, &x, NULL, NULL, p->rows, NULL);
      mbg__event_tangent_clear(attributes->columns, attributes->first + q, attributes->da);
      vn_axpy(nr, column(p->bottom, q, nr), -1, p->rows);
    }
  }
  for (int q = 0; q < ncol; q++) {
    mbg__dca_pack(p->m, q, ncol, -1, column(p->top, q, nw), column(p->bottom, q, nr), p->x);
  }
  solve(p, rates, ncol);
  for (int q = 0; q < ncol; q++) {
    mbg__dca_unpack(p->m, q, ncol, p->x, p->r, NULL);
    mbg__tree_joint_change(p->tree, p->r, column(p->k, q, nw), column(p->dd, q, p->n));
  }
}

/* cotangents dd of d: adds to ge, gw, gattr */
static void solve_pull(mbg__dca_project *p, bool rates, int ncol, real *const *ge, real *const *gw,
                       real *const *gattr) {
  const int nw = p->m->nw, nr = p->m->nrow;
  for (int q = 0; q < ncol; q++) {
    mbg__tree_joint_change_T(p->tree, column(p->dd, q, p->n), p->c, column(p->k, q, nw));
    mbg__dca_pack(p->m, q, ncol, -1, p->c, NULL, p->x);
  }
  solve(p, rates, ncol);
  for (int q = 0; q < ncol; q++) {
    real *w = column(p->w, q, nw), *dv = column(p->dv, q, nw), *bottom = column(p->bottom, q, nr);
    vn_zero(nw, w);
    vn_zero(nw, dv);
    mbg__dca_unpack(p->m, q, ncol, p->x, p->r, bottom);
    only_free(p, bottom, p->rows);
    mbg__system_pull(p->sys, p->r, rates ? NULL : p->rows, bottom, NULL, w, rates ? dv : NULL, NULL, NULL, gattr[q]);
    inertia_pull(p, p->r, gattr[q]);
    mbg__modals_mass_pull(p->sys, p->u, p->r, w, gattr[q]);
    mbg__beams_mass_pull(p->sys, p->u, p->r, gattr[q]);
  }
  if (!rates) {
    mbg__system_constraints_at(p->sys, p->zero, p->zero);
    for (int q = 0; q < ncol; q++) {
      real *bottom = column(p->bottom, q, nr);
      vn_scale(nr, bottom, -1, bottom);
      mbg__system_pull(p->sys, NULL, NULL, bottom, NULL, column(p->w, q, nw), NULL, NULL, NULL, gattr[q]);
    }
  }
  for (int q = 0; q < ncol; q++) {
    mbg__tree_local_pull(p->tree, column(p->w, q, nw), column(p->dv, q, nw), column(p->k, q, nw), NULL, NULL, true,
                         ge[q], rates ? gw[q] : p->dummy, gattr[q]);
  }
}

/* ---------------------------------------------------------------------- derivatives of all */

/* frames before each solve and their increments */
static int repeat(mbg_context *ctx, mbg__dca_project *p, double t, const real *q, const mbg__frame *E, int rounds) {
  int err = MBG_OK;
  memcpy(p->E[0], E, (size_t)p->m->nbody * sizeof(*E));
  for (int i = 0; i < rounds; i++) {
    MBG_TRY(at(ctx, p, t, q, p->E[i], p->zero, false));
    correct(p, false);
    vn_copy(p->n, p->D[i], p->d);
    mbg__tree_move(p->tree, p->E[i], p->d, p->E[i + 1]);
  }
done:
  return err;
}

/* at the solve of frames i, or (i = rounds) of rates */
static int at_solve(mbg_context *ctx, mbg__dca_project *p, double t, const real *q, const real *w, int i, int rounds) {
  int err = MBG_OK;
  MBG_TRY(at(ctx, p, t, q, p->E[i], i < rounds ? p->zero : w, i == rounds));
  correct(p, i == rounds);
  MBG_TRY(linearize(ctx, p, t));
done:
  return err;
}

static int panel_of(int ncol, int first) { return ncol - first < MBG__DCA_PANEL ? ncol - first : MBG__DCA_PANEL; }

int mbg__dca_project_push(mbg_context *ctx, mbg__dca_project *p, double t, const real *near, const mbg__frame *E,
                          const real *w, int rounds, int ncol, real *const *e, real *const *dw,
                          const mbg__dca_attributes *attributes) {
  int err = MBG_OK;
  MBG_TRY(repeat(ctx, p, t, near, E, rounds));
  for (int i = 0; i <= rounds; i++) {
    if (i < rounds) {
      mbg__dca_flow_increments(p->flow, p->D[i]);
    }
    for (int c = 0; c < ncol; c += MBG__DCA_PANEL) {
      const int m = panel_of(ncol, c);
      mbg__dca_attributes own = *attributes;
      own.first += c;
      MBG_TRY(at_solve(ctx, p, t, near, w, i, rounds));
      solve_push(p, i == rounds, m, e + c, dw + c, &own);
      for (int q = 0; q < m; q++) {
        const real *dd = column(p->dd, q, p->n);
        if (i < rounds) {
          mbg__dca_flow_frames_push(p->flow, p->D[i], e[c + q], dd, e[c + q]);
        } else {
          vn_axpy(p->n, dw[c + q], 1, dd);
        }
      }
    }
  }
done:
  return err;
}

int mbg__dca_project_pull(mbg_context *ctx, mbg__dca_project *p, double t, const real *near, const mbg__frame *E,
                          const real *w, int rounds, int ncol, real *const *ge, real *const *gw, real *const *gattr) {
  const size_t nb = 6 * (size_t)p->m->nbody;
  int err = MBG_OK;
  MBG_TRY(repeat(ctx, p, t, near, E, rounds));
  for (int i = rounds; i >= 0; i--) {
    if (i < rounds) {
      mbg__dca_flow_increments(p->flow, p->D[i]);
    }
    for (int c = 0; c < ncol; c += MBG__DCA_PANEL) {
      const int m = panel_of(ncol, c);
      MBG_TRY(at_solve(ctx, p, t, near, w, i, rounds));
      for (int q = 0; q < m; q++) {
        real *gd = column(p->dd, q, p->n);
        if (i < rounds) {
          vn_zero(p->n, gd);
          memset(p->gn, 0, nb * sizeof(real));
          mbg__dca_flow_frames_pull(p->flow, p->D[i], ge[c + q], p->gn, gd);
          memcpy(ge[c + q], p->gn, nb * sizeof(real));
        } else {
          vn_copy(p->n, gd, gw[c + q]);
        }
      }
      solve_pull(p, i == rounds, m, ge + c, gw + c, gattr + c);
    }
  }
done:
  return err;
}
