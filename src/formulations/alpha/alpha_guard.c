/* Guard against the instability of index 3 on turning rows (theory 4, section 14). The multipliers alternate from step
   to step and grow; z = (third difference of lambda)/8 sees nothing else. The run stops when, after two blocks of ten
   steps in a row, the largest |z| has grown by 1.3 over three blocks, counts beside the multipliers and alternates; or,
   where the rows turn by more than a radian a step and no sign is regular, after three blocks when it has grown by 10
   and is as large as the multipliers; and when a body turns by more than a tenth of a radian in the step, without which
   the rows do not turn enough (reactions also jump near singular positions and when steps change). */
#include "formulations/alpha/alpha_work.h"

enum { BLOCK = 10, BLOCKS = 4, ALTERNATIONS = 7, ALARMS = 2, EXPLOSIONS = 3 };
static const double growth = 1.3, relevant = 1e-3, explosive = 10, rough = 0.1, turning = 0.1;

struct mbg__alpha_guard {
  int nrow;
  int steps;          /* since the start */
  double top[BLOCKS]; /* largest |z| of the last blocks, the present one first */
  int row;            /* where the largest one of the block is */
  double size;        /* largest |lambda| of the block */
  int alarms, explosions;
  double *last[3]; /* multipliers of the last three nodes        (nrow) */
  double *z;       /*                                            (nrow) */
  int *changes;    /* of the sign of z in the block              (nrow) */
};

int mbg__alpha_guard_create(mbg_context *ctx, mbg__alpha *a) {
  mbg__alpha_guard *g = MBG_TAKE(&a->arena, mbg__alpha_guard, 1);
  a->guard = g;
  for (int k = 0; g && k < 3; k++) {
    g->last[k] = MBG_TAKE(&a->arena, double, a->m->nrow);
  }
  if (g) {
    g->nrow = a->m->nrow;
    g->z = MBG_TAKE(&a->arena, double, a->m->nrow);
    g->changes = MBG_TAKE(&a->arena, int, a->m->nrow);
  }
  return mbg__arena_check(ctx, &a->arena);
}

static void take(mbg__alpha_guard *g, const real *lambda) {
  for (int i = 0; i < g->nrow; i++) {
    const double x = re(lambda[i]), z = (x - 3 * g->last[0][i] + 3 * g->last[1][i] - g->last[2][i]) / 8;
    if (g->steps >= 3) {
      g->changes[i] += z * g->z[i] < 0;
      g->row = fabs(z) > g->top[0] ? i : g->row;
      g->top[0] = fmax(g->top[0], fabs(z));
      g->z[i] = z;
    }
    g->size = fmax(g->size, fabs(x));
    g->last[2][i] = g->last[1][i];
    g->last[1][i] = g->last[0][i];
    g->last[0][i] = x;
  }
}

static void next_block(mbg__alpha_guard *g) {
  for (int k = BLOCKS - 1; k > 0; k--) {
    g->top[k] = g->top[k - 1];
  }
  g->top[0] = g->size = 0;
  for (int i = 0; i < g->nrow; i++) {
    g->changes[i] = 0;
  }
}

/* does a body turn fast enough in the step that led here? */
static bool spins(const mbg_model *m, const mbg__alpha_node *n) {
  for (int b = 0; b < m->nbody; b++) {
    const real *X = n->Dx + m->bodies[b].voff + 3;
    if (m->bodies[b].carrier < 0 && sqrt(re(X[0]) * re(X[0]) + re(X[1]) * re(X[1]) + re(X[2]) * re(X[2])) > turning) {
      return true;
    }
  }
  return false;
}

int mbg__alpha_guard_step(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *n) {
  mbg__alpha_guard *g = a->guard;
  if (*n->h == 0) {
    g->steps = g->alarms = g->explosions = 0;
    for (int k = 0; k < BLOCKS; k++) {
      next_block(g);
    }
  }
  take(g, n->lambda);
  if (g->steps++ % BLOCK != 0 || g->steps == 1 || g->nrow == 0) {
    return MBG_OK;
  }
  const double before = g->top[BLOCKS - 1];
  const bool alarm =
      before > 0 && g->top[0] > growth * before && g->top[0] > relevant * g->size && g->changes[g->row] >= ALTERNATIONS;
  const bool explosion = before > 0 && g->top[0] > explosive * before && g->top[0] > rough * g->size;
  g->alarms = alarm ? g->alarms + 1 : 0;
  g->explosions = explosion ? g->explosions + 1 : 0;
  if ((g->alarms >= ALARMS || g->explosions >= EXPLOSIONS) && spins(a->m, n)) {
    char label[160];
    mbg__row_label(a->m, g->row, label, sizeof(label));
    return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                     "t = %g (h = %g): the reaction of %s jumps from step to step and grows (%.2g beside %.2g); "
                     "the step is too large for a body that spins there: take a smaller step%s",
                     *n->t, *n->h, label, g->top[0], g->size, a->index2 ? "" : " or \"index\": 2");
  }
  next_block(g);
  return MBG_OK;
}
