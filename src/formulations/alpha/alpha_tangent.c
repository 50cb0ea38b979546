/* Direct differentiation (theory 4, section 5). With X = Dx'_{n+1} and A = Ad(exp(-Dx)):

     ca = -(h v' + (1/2-beta) h^2 al')/(beta h^2)      cv = v' + (1-gamma) h al' + gamma h ca
     cd = ((1-am) ca + am al' - af vd')/(1-af)
     S (X, lambda') = -(M cd + C cv + K A w + r_p,  B A w + phi_p)
     w <- A w + T X,  v' <- gp X + cv,  vd' <- bp X + cd,  al' <- X/(beta h^2) + ca

   Steps whose length h moves with an event (theory 7, section 5): ca -= b_x h'/(beta h^2), cv += b_v h',

     b_x = v_n + (1-2 beta) h al_n + 2 beta h al_{n+1}      b_v = (1-gamma) al_n + gamma al_{n+1}

   and time moves by t', which is the variation of the attribute `clock`. The length of a step that ends at a guard
   follows from one more column, with h' = t' = 1 and nothing else: t' = -(g' of the column)/(g' of this one).

   Index 2 (alpha_index2.c), S over (X, Dx', lambda', eta'):

     S (X, Dx', lambda', eta') = -(M cd + C cv + K A w + r_p,  h (E^T eta)_H w + h (E^T eta)_p,
                                   B A w + phi_p,  B cv + Z A w + phid_p)              w <- A w + T Dx' */
#include "formulations/alpha/alpha_tangent.h"

#include <string.h>

typedef mbg__alpha_tangents tangent;

/* ---------------------------------------------------------------------- creation */

static mbg__csc view(const mbg__csc *pattern, real *val) {
  mbg__csc A = *pattern;
  A.val = val;
  return A;
}

/* Columns go side by side where the equations are those of index 3 in the variables of the system. */
static int create_block(mbg_context *ctx, tangent *s) {
  const mbg__alpha *a = s->a;
  const int nw = a->m->nw, sizes[] = {nw, nw, nw, nw, a->m->nrow, a->m->na};
  int err = MBG_OK;
  if (a->index2 || a->rates || a->nrotor > 0) {
    return MBG_OK;
  }
  MBG_TRY(mbg__lanes_block_create_large(ctx, &s->arena, a->sys, &s->block));
  for (int q = 0; q < MBG__LANES; q++) {
    for (int k = 0; k < MBG_COUNT(sizes); k++) {
      s->side[q][k] = MBG_TAKE(&s->arena, real, sizes[k]);
    }
  }
  if (!mbg__lanes_block_serves(s->block, MBG__LANES)) {
    s->block = NULL;
  }
  err = mbg__arena_check(ctx, &s->arena);
done:
  return err;
}

static int create(mbg_context *ctx, tangent *s) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const size_t n = (size_t)m->nv * (size_t)s->room, rows = (size_t)m->nrow * (size_t)s->room;
  const bool index2 = a->index2 != NULL;
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  s->K = view(mbg__system_pattern_K(a->sys), a->K);
  s->C = view(mbg__system_pattern_K(a->sys), a->C);
  s->M = view(mbg__system_pattern_K(a->sys), a->M);
  s->B = view(mbg__system_pattern_B(a->sys), a->B);
  s->Z = view(mbg__system_pattern_B(a->sys), a->Z);
  s->BG = view(mbg__system_pattern_B(a->sys), a->BG);
  s->W = MBG_TAKE(&s->arena, real, n);
  s->Wm = MBG_TAKE(&s->arena, real, (size_t)m->nw * (size_t)s->room);
  s->outside = MBG_TAKE(&s->arena, bool, s->room);
  s->V = MBG_TAKE(&s->arena, real, n);
  s->A = MBG_TAKE(&s->arena, real, n);
  s->Al = MBG_TAKE(&s->arena, real, n);
  s->L = MBG_TAKE(&s->arena, real, rows);
  s->cv = MBG_TAKE(&s->arena, real, n);
  s->cd = MBG_TAKE(&s->arena, real, n);
  s->X = MBG_TAKE(&s->arena, real, (size_t)a->n * (size_t)s->room);
  s->R = MBG_TAKE(&s->arena, real, n);
  s->P = MBG_TAKE(&s->arena, real, rows);
  s->I = MBG_TAKE(&s->arena, real, index2 ? n : 0);
  s->Q = MBG_TAKE(&s->arena, real, index2 || a->rates ? rows : 0);
  s->nw = mbg__march_nodes(a->march)->npose > 0 ? m->nw : 0;
  s->dy = MBG_TAKE(&s->arena, real, (size_t)(a->nused + s->nw) * (size_t)s->room);
  s->da = MBG_TAKE(&s->arena, real, m->na);
  s->dc = MBG_TAKE(&s->arena, real, 3 * (size_t)a->nrotor * (size_t)s->room);
  s->bc = MBG_TAKE(&s->arena, real, 3 * a->nrotor);
  for (int k = 0; k < MBG_COUNT(s->full); k++) {
    s->full[k] = MBG_TAKE(&s->arena, real, m->nw);
  }
  s->row = MBG_TAKE(&s->arena, real, m->nrow);
  if (a->events) {
    const size_t np = (size_t)s->room;
    s->t = MBG_TAKE(&s->arena, real, np);
    s->h = MBG_TAKE(&s->arena, real, np);
    s->h_old = MBG_TAKE(&s->arena, real, np);
    s->g = MBG_TAKE(&s->arena, real, np);
    s->dP = MBG_TAKE(&s->arena, real, np * (size_t)m->nevent);
    s->fw = MBG_TAKE(&s->arena, real, np * (size_t)m->nw);
    s->fv = MBG_TAKE(&s->arena, real, np * (size_t)m->nw);
  }
  int err = mbg__arena_check(ctx, &s->arena);
  err = err < 0 ? err : mbg__design_columns_make(ctx, &s->arena, mbg__system_design(a->sys), &s->columns);
  return err < 0 ? err : create_block(ctx, s);
}

/* ---------------------------------------------------------------------- parameters */

/* attributes of column p: by the parameter, by time, by impulses */
void mbg__alpha_tangent_lay(tangent *s, int p) {
  const mbg_model *m = s->a->m;
  if (p < s->nparam) {
    mbg__design_column_lay(&s->columns, p, s->da);
  }
  if (s->t) {
    s->da[m->clock] = s->t[p];
    for (int i = 0; i < m->nevent; i++) {
      if (m->events[i].impulse >= 0) {
        s->da[m->events[i].impulse] = s->dP[(size_t)i * (size_t)s->room + (size_t)p];
      }
    }
  }
}

void mbg__alpha_tangent_unlay(tangent *s, int p) {
  const mbg_model *m = s->a->m;
  if (p < s->nparam) {
    mbg__design_column_clear(&s->columns, p, s->da);
  }
  if (s->t) {
    s->da[m->clock] = 0;
    for (int i = 0; i < m->nevent; i++) {
      if (m->events[i].impulse >= 0) {
        s->da[m->events[i].impulse] = 0;
      }
    }
  }
}

/* masked components of w0 in full[0]: frames that vary outside their motions */
static void take_masked(tangent *s, int p) {
  const mbg_model *m = s->a->m;
  real *wm = s->Wm + (size_t)p * (size_t)m->nw;
  s->outside[p] = false;
  for (int i = 0; i < m->nw; i++) {
    wm[i] = m->dof[i] < 0 ? s->full[0][i] : 0;
    s->outside[p] = s->outside[p] || wm[i] != 0;
  }
}

/* ---------------------------------------------------------------------- first node */

/* right side of (vd', lambda') at the first node */
static void begin_column(tangent *s, int p) {
  const mbg_model *m = s->a->m;
  const mbg__direction d = {.w = s->full[0], .dv = s->full[1], .da = s->da};
  real *x = s->X + (size_t)p * (size_t)(m->nv + m->nrow);
  mbg__system_push(s->a->sys, &d, s->full[2], NULL, NULL, s->row);
  mbg__gather(m, s->a->rank->keep, -1, s->full[2], -1, s->row, x);
}

/* v' and vd' of rotors from body axes to those of the nodes */
static void keep_columns(tangent *s, const mbg__alpha_node *node) {
  const mbg_model *m = s->a->m;
  mbg__rotors_linearize(s->a, node);
  for (int p = 0; s->a->nrotor > 0 && p < s->np; p++) {
    real *x[3] = {s->W, s->V, s->A};
    for (int k = 0; k < 3; k++) {
      memset(s->full[k], 0, (size_t)m->nw * sizeof(real));
      mbg__to_full(m, 1, x[k] + (size_t)p * (size_t)m->nv, s->full[k]);
    }
    memset(s->full[3], 0, (size_t)m->nw * sizeof(real));
    memset(s->full[4], 0, (size_t)m->nw * sizeof(real));
    mbg__rotors_push_twist(s->a, s->dc + 3 * (size_t)(p * s->a->nrotor), s->full[3], s->full[4]);
    vn_axpy(m->nw, s->full[1], -1, s->full[3]);
    vn_axpy(m->nw, s->full[2], -1, s->full[4]);
    mbg__rotors_push_start(s->a, s->full[0], s->full[1], s->full[2]);
    for (int k = 1; k < 3; k++) {
      mbg__to_free(m, 1, s->full[k], x[k] + (size_t)p * (size_t)m->nv);
    }
  }
}

/* vd', lambda' and al' from w and v' at a node without a step */
int mbg__alpha_tangent_accelerate(mbg_context *ctx, tangent *s, const mbg__alpha_node *node) {
  const mbg_model *m = s->a->m;
  const size_t nv = (size_t)m->nv;
  int err = MBG_OK;
  MBG_TRY(mbg__alpha_factor_start(ctx, s->a, node, false));
  for (int p = 0; p < s->np; p++) {
    memcpy(s->full[0], s->Wm + (size_t)p * (size_t)m->nw, (size_t)m->nw * sizeof(real));
    memset(s->full[1], 0, (size_t)m->nw * sizeof(real));
    mbg__to_full(m, 1, s->W + (size_t)p * nv, s->full[0]);
    mbg__to_full(m, 1, s->V + (size_t)p * nv, s->full[1]);
    mbg__alpha_tangent_lay(s, p);
    begin_column(s, p);
    mbg__alpha_tangent_unlay(s, p);
  }
  mbg__saddle_solve(&s->a->initial, false, mbg__rank_close(s->a->rank), s->X, s->np);
  for (int p = 0; p < s->np; p++) {
    const real *x = s->X + (size_t)p * (size_t)(m->nv + m->nrow);
    memcpy(s->A + (size_t)p * nv, x, nv * sizeof(real));
    memcpy(s->L + (size_t)p * (size_t)m->nrow, x + nv, (size_t)m->nrow * sizeof(real));
  }
  keep_columns(s, node);
  memcpy(s->Al, s->A, nv * (size_t)s->np * sizeof(real));
done:
  return err;
}

static int begin(mbg_context *ctx, tangent *s, const mbg__alpha_node *node) {
  const mbg_model *m = s->a->m;
  const size_t nv = (size_t)m->nv;
  int err = MBG_OK;
  for (int p = 0; p < s->nparam; p++) {
    mbg__alpha_tangent_lay(s, p);
    mbg__rotors_push_point(s->a, s->da, s->dc + 3 * (size_t)(p * s->a->nrotor));
    err = mbg__start_push_column(ctx, s->a->start, p, s->da, s->full[0], s->full[1]);
    mbg__alpha_tangent_unlay(s, p);
    MBG_TRY(err);
    mbg__to_free(m, 1, s->full[0], s->W + (size_t)p * nv);
    mbg__to_free(m, 1, s->full[1], s->V + (size_t)p * nv);
    take_masked(s, p);
  }
  MBG_TRY(mbg__alpha_tangent_accelerate(ctx, s, node));
done:
  return err;
}
/* ---------------------------------------------------------------------- step */

/* block-diagonal products on all columns: out = F(body) in, F = A from a node by Dx, or T */
static void blocks_mul(const tangent *s, const mbg__alpha_node *from, const real *Dx, const real *T, const real *in,
                       real *out, bool add) {
  const mbg_model *m = s->a->m;
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    real F[36];
    int dof[6], comp[6], n = 0;
    if (T) {
      memcpy(F, T + 36 * b, sizeof(F));
    } else {
      mbg__alpha_transport(s->a, b, &from->H[b], Dx + off, F);
    }
    for (int k = 0; k < 6; k++) {
      if (m->dof[off + k] >= 0) {
        dof[n] = m->dof[off + k];
        comp[n++] = k;
      }
    }
    for (int p = 0; p < s->np; p++) {
      const real *x = in + (size_t)p * (size_t)m->nv;
      real *y = out + (size_t)p * (size_t)m->nv, z[6];
      for (int i = 0; i < n; i++) {
        z[i] = add ? y[dof[i]] : 0;
        for (int j = 0; j < n; j++) {
          z[i] += F[6 * comp[i] + comp[j]] * x[dof[j]];
        }
      }
      for (int i = 0; i < n; i++) {
        y[dof[i]] = z[i];
      }
    }
  }
}

/* masked components: A w_m, whose free components are added to W */
static void carry_masked(tangent *s, int p, const mbg__alpha_node *from, const mbg__alpha_node *to) {
  const mbg_model *m = s->a->m;
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    real *wm = s->Wm + (size_t)p * (size_t)m->nw + off, x[6], A[36];
    mbg__alpha_transport(s->a, b, &from->H[b], to->Dx + off, A);
    m6_mulv(x, A, wm);
    for (int k = 0; k < 6; k++) {
      const int j = m->dof[off + k];
      wm[k] = j < 0 ? x[k] : 0;
      if (j >= 0) {
        s->W[(size_t)p * (size_t)m->nv + (size_t)j] += x[k];
      }
    }
  }
}

/* parts of al' (as used, after the change of step), ca and cv by h' and that of the step before */
static void by_length(const tangent *s, const mbg__alpha_node *from, const mbg__alpha_node *to, size_t i, real *al,
                      real *ca, real *cv) {
  const mbg__alpha_coefs *c = &s->a->c;
  const size_t p = i / (size_t)s->a->m->nv;
  const int k = s->a->m->full[i % (size_t)s->a->m->nv];
  const real h = *to->h, old = *from->h;
  const real slack = from->al[k] - from->vd[k], al0 = re(old) > 0 ? from->vd[k] + h / old * slack : from->al[k];
  if (re(old) > 0) {
    *al += slack * (s->h[p] / old - h * s->h_old[p] / (old * old));
  }
  *ca = -(from->v[k] + (1 - 2 * c->beta) * h * al0 + 2 * c->beta * h * to->al[k]) * s->h[p] / (c->beta * h * h);
  *cv = ((1 - c->gamma) * al0 + c->gamma * to->al[k]) * s->h[p];
}

/* ca into al', cv, cd; returns with W <- A W */
static void carry(tangent *s, const mbg__alpha_node *from, const mbg__alpha_node *to) {
  const mbg__alpha_coefs *c = &s->a->c;
  const real h = *to->h, q = alpha_rescale(*from->h, h);
  const size_t n = (size_t)s->a->m->nv * (size_t)s->np;
  for (size_t i = 0; i < n; i++) {
    real al = q == 1 ? s->Al[i] : s->A[i] + q * (s->Al[i] - s->A[i]);
    real ca = 0, cv = 0;
    if (s->moves) {
      by_length(s, from, to, i, &al, &ca, &cv);
    }
    ca -= (h * s->V[i] + (0.5 - c->beta) * h * h * al) / (c->beta * h * h);
    s->cv[i] = cv + s->V[i] + (1 - c->gamma) * h * al + c->gamma * h * ca;
    s->cd[i] = ((1 - c->am) * ca + c->am * al - c->af * s->A[i]) / (1 - c->af);
    s->Al[i] = ca;
  }
  blocks_mul(s, from, to->Dx, NULL, s->W, s->R, false);
  memcpy(s->W, s->R, n * sizeof(real));
  for (int p = 0; p < s->np; p++) {
    if (s->outside[p]) {
      carry_masked(s, p, from, to);
    }
    if (s->a->nrotor > 0) {
      memset(s->full[0], 0, (size_t)s->a->m->nw * sizeof(real));
      mbg__rotors_push_step(s->a, from, to->Dx, s->dc + 3 * (size_t)(p * s->a->nrotor), s->full[0]);
      for (int j = 0; j < s->a->m->nv; j++) {
        s->W[(size_t)p * (size_t)s->a->m->nv + (size_t)j] += s->full[0][s->a->m->full[j]];
      }
    }
  }
}

/* index 2: -h ((E^T eta)_H w + (E^T eta)_p) at the start of the step */
static int corrections(mbg_context *ctx, tangent *s, const mbg__alpha_node *from, const mbg__alpha_node *to) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const size_t nv = (size_t)m->nv, nw = (size_t)m->nw;
  const real *f;
  const int err = mbg__alpha_index2_wrenches(ctx, a->index2, from, to->eta, &f);
  for (int p = 0; err == MBG_OK && p < s->np; p++) {
    const mbg__direction d = {.w = s->full[0], .da = s->da};
    memcpy(s->full[0], s->Wm + (size_t)p * nw, nw * sizeof(real));
    mbg__to_full(m, 1, s->W + (size_t)p * nv, s->full[0]);
    mbg__alpha_tangent_lay(s, p);
    mbg__system_push(a->sys, &d, s->full[1], NULL, NULL, NULL);
    mbg__alpha_tangent_unlay(s, p);
    mbg__rotors_push_wrench(a, from, f, s->full[0], s->dc + 3 * (size_t)(p * a->nrotor), s->full[1]);
    mbg__to_free(m, -*to->h, s->full[1], s->I + (size_t)p * nv);
  }
  return err;
}

/* explicit parts r_p, phi_p and phid_p, and the parts of the masked components of w */
static void explicit_parts(tangent *s) {
  const mbg_model *m = s->a->m;
  for (int p = 0; p < s->np; p++) {
    mbg__direction d = {.w = s->outside[p] ? s->Wm + (size_t)p * (size_t)m->nw : NULL, .da = s->da};
    if (s->a->nrotor > 0) {
      memset(s->full[1], 0, (size_t)m->nw * sizeof(real));
      memset(s->full[2], 0, (size_t)m->nw * sizeof(real));
      mbg__rotors_push_twist(s->a, s->dc + 3 * (size_t)(p * s->a->nrotor), s->full[1], s->full[2]);
      d.dv = s->full[1];
      d.dvd = s->full[2];
    }
    mbg__alpha_tangent_lay(s, p);
    real *dphid = s->a->index2 || s->a->rates ? s->Q + (size_t)p * (size_t)m->nrow : NULL;
    mbg__system_push(s->a->sys, &d, s->full[0], s->P + (size_t)p * (size_t)m->nrow, dphid, NULL);
    if (s->a->rates) {
      mbg__alpha_rates_push(s->a, s->da, dphid);
    }
    mbg__alpha_tangent_unlay(s, p);
    mbg__to_free(m, 1, s->full[0], s->R + (size_t)p * (size_t)m->nv);
  }
}

/* R and P of columns first, first + 1, ...: M cd + C cv + K A w + r_p, B A w + phi_p as one directional derivative */
static void push_block(tangent *s, int first, int count) {
  const mbg_model *m = s->a->m;
  const size_t nv = (size_t)m->nv;
  mbg__direction d[MBG__LANES];
  real *dr[MBG__LANES], *dphi[MBG__LANES], *da = s->da;
  for (int q = 0; q < count; q++) {
    const size_t p = (size_t)(first + q);
    real **x = s->side[q];
    vn_copy(m->nw, x[0], s->Wm + p * (size_t)m->nw);
    mbg__to_full(m, 1, s->W + p * nv, x[0]);
    mbg__to_full(m, 1, s->cv + p * nv, x[1]); /* other components stay 0 */
    mbg__to_full(m, 1, s->cd + p * nv, x[2]);
    s->da = x[5];
    mbg__alpha_tangent_lay(s, first + q);
    d[q] = (mbg__direction){.w = x[0], .dv = x[1], .dvd = x[2], .da = x[5]};
    dr[q] = x[3];
    dphi[q] = x[4];
  }
  mbg__system_push_block(s->a->sys, s->block, count, d, &(mbg__lanes_change){.dr = dr, .dphi = dphi});
  for (int q = 0; q < count; q++) {
    const size_t p = (size_t)(first + q);
    s->da = s->side[q][5];
    mbg__alpha_tangent_unlay(s, first + q);
    mbg__to_free(m, 1, dr[q], s->R + p * nv);
    vn_copy(m->nrow, s->P + p * (size_t)m->nrow, dphi[q]);
  }
  s->da = da;
}

/* the same by the matrices, all columns at once */
static void products(tangent *s) {
  const mbg__alpha *a = s->a;
  explicit_parts(s);
  mbg__csc_mul_add(s->R, 1, &s->M, s->cd, s->np);
  mbg__csc_mul_add(s->R, 1, &s->C, s->cv, s->np);
  mbg__csc_mul_add(s->R, 1, &s->K, s->W, s->np);
  mbg__csc_mul_add(s->P, 1, &s->B, s->W, s->np);
  if (a->index2 || a->rates) {
    mbg__csc_mul_add(s->Q, 1, &s->BG, s->cv, s->np);
    mbg__csc_mul_add(s->Q, 1, &s->Z, s->W, s->np);
  }
}

/* right-hand sides in X, after carry */
static void right_sides(tangent *s, real h) {
  const mbg__alpha *a = s->a;
  const size_t nv = (size_t)a->m->nv, nr = (size_t)a->m->nrow;
  const real scale = a->c.beta * h * h;
  for (int p = 0; s->block && p < s->np; p += MBG__LANES) {
    push_block(s, p, s->np - p < MBG__LANES ? s->np - p : MBG__LANES);
  }
  if (!s->block) {
    products(s);
  }
  for (int p = 0; p < s->np; p++) {
    real *x = s->X + (size_t)p * (size_t)a->n;
    const size_t at = (size_t)p * nv, row = (size_t)p * nr;
    for (size_t j = 0; j < nv; j++) {
      x[j] = -scale * s->R[at + j];
    }
    for (size_t i = 0; i < nr; i++) {
      const bool rate = a->rates && a->rates[i];
      const real own = rate ? h * (s->Q[row + i] + mbg__alpha_decay(a, (int)i) * s->P[row + i]) : s->P[row + i];
      x[(size_t)a->atL + i] = a->rank->keep[i] ? -own : 0;
    }
    for (size_t j = 0; a->index2 && j < nv; j++) {
      x[(size_t)a->atD + j] = s->I[at + j];
    }
    for (size_t i = 0; a->index2 && i < nr; i++) {
      x[(size_t)a->atE + i] = a->rank->keep[i] ? -h * s->Q[row + i] : 0;
    }
  }
}

static int step(mbg_context *ctx, tangent *s, const mbg__alpha_node *from, const mbg__alpha_node *to) {
  mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const real h = *to->h, scale = a->c.beta * h * h;
  const size_t nv = (size_t)m->nv, nr = (size_t)m->nrow;
  int err = MBG_OK;
  MBG_TRY(a->index2 ? corrections(ctx, s, from, to) : MBG_OK);
  MBG_TRY(mbg__alpha_factor_at(ctx, a, to));
  carry(s, from, to);
  right_sides(s, h);
  mbg__alpha_solve(a, false, s->X, s->np);
  for (int p = 0; p < s->np; p++) {
    const real *x = s->X + (size_t)p * (size_t)a->n;
    for (size_t j = 0; j < nv; j++) {
      const size_t i = (size_t)p * nv + j;
      s->V[i] = alpha_gp(a, h) * x[j] + s->cv[i];
      s->A[i] = alpha_bp(a, h) * x[j] + s->cd[i];
      s->Al[i] += x[j] / scale;
      s->R[i] = x[(size_t)a->atD + j];
    }
    for (size_t i = 0; i < nr; i++) {
      s->L[(size_t)p * nr + i] = x[(size_t)a->atL + i] / scale;
    }
  }
  blocks_mul(s, NULL, NULL, a->T, s->R, s->W, true);
done:
  return err;
}

/* ---------------------------------------------------------------------- signals */

/* dy/dp (np) of a signal at the node, explicit dependence on attributes included */
void mbg__alpha_tangent_signal(tangent *s, int signal, real *dy) {
  const mbg_model *m = s->a->m;
  const mbg__design *design = mbg__system_design(s->a->sys);
  const real *block[3] = {s->W, s->V, s->A};
  for (int k = 0; k < 3; k++) {
    memset(s->full[k], 0, (size_t)m->nw * sizeof(real));
  }
  memset(s->row, 0, (size_t)m->nrow * sizeof(real));
  mbg__system_signal_pull(s->a->sys, signal, 1, s->full[0], s->full[1], s->full[2], s->row, s->da);
  memset(s->bc, 0, 3 * (size_t)s->a->nrotor * sizeof(real));
  mbg__rotors_pull_twist(s->a, 1, s->full[1], s->full[2], s->bc);
  mbg__rotors_pull(s->a, s->full[0], s->full[1], s->full[2]);
  memset(dy, 0, (size_t)s->np * sizeof(real));
  for (int p = 0; p < s->np; p++) {
    dy[p] += vn_dot(3 * s->a->nrotor, s->bc, s->dc + 3 * (size_t)(p * s->a->nrotor));
  }
  for (int k = 0; k < 3; k++) {
    for (int j = 0; j < m->nv; j++) {
      const real g = s->full[k][m->full[j]];
      for (int p = 0; g != 0 && p < s->np; p++) {
        dy[p] += g * block[k][(size_t)p * (size_t)m->nv + (size_t)j];
      }
    }
  }
  for (int p = 0; p < s->np; p++) {
    dy[p] += s->outside[p] ? vn_dot(m->nw, s->full[0], s->Wm + (size_t)p * (size_t)m->nw) : 0;
  }
  for (int i = 0; i < m->nrow; i++) {
    for (int p = 0; s->row[i] != 0 && p < s->np; p++) {
      dy[p] += s->row[i] * s->L[(size_t)p * (size_t)m->nrow + (size_t)i];
    }
  }
  mbg__design_columns_pull(design, s->da, dy);
  for (int p = 0; s->t && p < s->np; p++) {
    dy[p] += s->da[m->clock] * s->t[p];
    for (int i = 0; i < m->nevent; i++) {
      dy[p] +=
          m->events[i].impulse < 0 ? 0 : s->da[m->events[i].impulse] * s->dP[(size_t)i * (size_t)s->room + (size_t)p];
    }
  }
  memset(s->da, 0, (size_t)m->na * sizeof(real));
}

/* w of the node, by rows */
static void frames_push(const tangent *s, real *dy) {
  const mbg_model *m = s->a->m;
  for (int i = 0; i < s->nw; i++) {
    for (int p = 0; p < s->np; p++) {
      const int j = m->dof[i];
      const real free = j >= 0 ? s->W[(size_t)p * (size_t)m->nv + (size_t)j] : 0;
      dy[(size_t)i * (size_t)s->np + (size_t)p] =
          free + (s->outside[p] ? s->Wm[(size_t)p * (size_t)m->nw + (size_t)i] : 0);
    }
  }
}

/* ---------------------------------------------------------------------- events */

/* a step to the node, which may be that before an event */
static int step_to(mbg_context *ctx, tangent *s, int n, const mbg__alpha_node *from, const mbg__alpha_node *node) {
  const mbg__alpha *a = s->a;
  const int fires = a->events ? mbg__march_fires(a->march, n) : -1;
  const mbg__event *e = fires >= 0 ? &a->m->events[mbg__events_firings(a->events)[fires].event] : NULL;
  int err = MBG_OK;
  if (a->events) {
    mbg__alpha_tangent_enter(s, e && e->guard >= 0, e ? e->at : -1);
  }
  MBG_TRY(step(ctx, s, from, node));
  if (e && e->guard >= 0) {
    MBG_TRY(mbg__system_linearize_signals(ctx, a->sys));
    MBG_TRY(mbg__system_linearize_guard(ctx, a->sys, e->guard));
    mbg__alpha_tangent_meet(s, e->guard);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

/* columns of the parameters alone, row after row */
static void pack(const tangent *s) {
  const int rows = s->a->nused + s->nw;
  for (int k = 0; s->np > s->nparam && k < rows; k++) {
    memmove(s->dy + (size_t)k * (size_t)s->nparam, s->dy + (size_t)k * (size_t)s->np, (size_t)s->nparam * sizeof(real));
  }
}

static int visit(mbg_context *ctx, void *user, int n, const void *from_block, const void *block) {
  tangent *s = user;
  mbg__alpha *a = s->a;
  const mbg__alpha_node node = mbg__alpha_view(a, block);
  int err = MBG_OK;
  if (from_block) {
    const mbg__alpha_node from = mbg__alpha_view(a, from_block);
    const int fired = a->events ? mbg__march_fired(a->march, n) : -1;
    MBG_TRY(fired >= 0 ? mbg__alpha_tangent_event(ctx, s, fired, &from, &node) : step_to(ctx, s, n, &from, &node));
  } else {
    MBG_TRY(begin(ctx, s, &node));
  }
  MBG_TRY(mbg__system_linearize_signals(ctx, a->sys));
  for (int k = 0; k < a->nused; k++) {
    mbg__alpha_tangent_signal(s, a->used[k], s->dy + (size_t)k * (size_t)s->np);
  }
  frames_push(s, s->dy + (size_t)a->nused * (size_t)s->np);
  pack(s);
  a->dt = s->t;
  MBG_TRY(s->take(s->user, n, s->dy));
done:
  return err;
}

int mbg__alpha_tangent(mbg_context *ctx, mbg__alpha *a, int (*take)(void *user, int node, const real *dy), void *user) {
  const int np = mbg__design_column_count(mbg__system_design(a->sys));
  tangent s = {.a = a, .np = np, .room = np + (a->events != NULL), .nparam = np, .take = take, .user = user};
  int err = MBG_OK;
  MBG_TRY(create(ctx, &s));
  MBG_TRY(mbg__march_forward(ctx, a->march, visit, &s));
done:
  a->dt = NULL;
  mbg__arena_destroy(&s.arena);
  return err;
}
