/* Guard against the instability of index 3 on turning rows (theory 4, section 14). The multipliers alternate from step
   to step and grow; z = (third difference of lambda)/8 sees little else. The run stops when

   - after two blocks of ten steps in a row the largest |z| alternates and has grown by 1.3, over three blocks where it
     merely counts beside the multipliers, over one where it is rough;
   - after three blocks in a row it has grown by 10 over three blocks and is rough (rows that turn by more than a radian
     a step do not alternate regularly);
   - it has grown over four windows in a row, by 2, 1.75 or 1.5 from one to the next for windows of 2, 4 or 8 steps, and
     is rough in the last two (short runs with large steps: a body turns by half a radian in the step; reactions near
     singular positions grow as fast); for windows of 2 also by 4, and then 0.06 |lambda| will do;

   and |z| is more than rounding, which alternates and wanders as it likes where nothing pulls at a joint;

   rough: |z| > 0.15 |lambda|, which no smooth growth reaches (1/8 at most, 0.05 when lambda grows by 4 a step); and
   when a body turns by more than a tenth of a radian in the step, without which the rows do not turn enough (reactions
   also jump near singular positions and when steps change).

   A row that alternates over three blocks, or over two when it does nothing else, and neither grows nor fades is close
   to the limit: a warning, once. Bodies turn by less than 0.75 rad in the step then, since three blades may shake their
   hub three times a turn. */
#include "formulations/alpha/alpha_work.h"

#include <float.h>

enum { BLOCK = 10, BLOCKS = 4, RINGS = 3, ALTERNATIONS = 7, ALARMS = 2, EXPLOSIONS = 3, WINDOWS = 4, RECENT = 32 };
static const double growth = 1.3, relevant = 1e-3, explosive = 10, rough = 0.15, turning = 0.1, fast = 0.5,
                    slowest = 0.02, slow = 0.75, ringing = 0.3, loudest = 0.6, visible = 0.01;

struct mbg__alpha_guard {
  int nrow;
  int steps;                              /* since the start */
  double top[BLOCKS];                     /* largest |z| of the last blocks, the present one first */
  int row;                                /* where the largest one of the block is */
  double size;                            /* largest |lambda| of the block */
  double z_now[RECENT], size_now[RECENT]; /* largest |z| and |lambda| of the last steps, a ring by their number */
  int row_now;                            /* where that |z| is */
  int alarms, explosions;
  int equal_steps; /* since the step changed last */
  double h;
  double *last[3];              /* multipliers of the last three nodes        (nrow) */
  double *z;                    /*                                            (nrow) */
  int *changes;                 /* of the sign of z in the block              (nrow) */
  double *z_block, *size_block; /* largest |z| and |lambda| of the block  (nrow) */
  double *z_first;              /* |z| of the first block that rings      (nrow) */
  int *rings;                   /* blocks in a row that ring              (nrow) */
  bool warned;
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
    g->z_block = MBG_TAKE(&a->arena, double, a->m->nrow);
    g->size_block = MBG_TAKE(&a->arena, double, a->m->nrow);
    g->z_first = MBG_TAKE(&a->arena, double, a->m->nrow);
    g->rings = MBG_TAKE(&a->arena, int, a->m->nrow);
  }
  return mbg__arena_check(ctx, &a->arena);
}

static void take(mbg__alpha_guard *g, const real *lambda) {
  double *most = &g->z_now[g->steps % RECENT], *size = &g->size_now[g->steps % RECENT];
  *most = *size = 0;
  for (int i = 0; i < g->nrow; i++) {
    const double x = re(lambda[i]), z = (x - 3 * g->last[0][i] + 3 * g->last[1][i] - g->last[2][i]) / 8;
    if (g->steps >= 3) {
      g->changes[i] += z * g->z[i] < 0;
      g->row = fabs(z) > g->top[0] ? i : g->row;
      g->top[0] = fmax(g->top[0], fabs(z));
      g->row_now = fabs(z) > *most ? i : g->row_now;
      *most = fmax(*most, fabs(z));
      g->z_block[i] = fmax(g->z_block[i], fabs(z));
      g->z[i] = z;
    }
    g->size = fmax(g->size, fabs(x));
    *size = fmax(*size, fabs(x));
    g->size_block[i] = fmax(g->size_block[i], fabs(x));
    g->last[2][i] = g->last[1][i];
    g->last[1][i] = g->last[0][i];
    g->last[0][i] = x;
  }
}

/* Rounding of a multiplier: that of the coordinates divided by h^2, on the mass of the whole model, times 1e4 for its
   growth through the factorization; moments have the model's size as their arm. */
static double rounding(const mbg__alpha *a, double h) {
  const mbg_model *m = a->m;
  const mbg__design *design = mbg__system_design(a->sys);
  double mass = 0;
  for (int b = 0; b < m->nbody; b++) {
    mass += re(design->M[36 * (size_t)b]);
  }
  for (int i = 0; i < m->nmodal; i++) {
    mass += re(design->modals[i].D[0]);
  }
  return 1e4 * DBL_EPSILON * mass * m->size * fmax(1, m->size) / (h * h);
}

static void next_block(mbg__alpha_guard *g) {
  for (int k = BLOCKS - 1; k > 0; k--) {
    g->top[k] = g->top[k - 1];
  }
  g->top[0] = g->size = 0;
  for (int i = 0; i < g->nrow; i++) {
    g->changes[i] = 0;
    g->z_block[i] = g->size_block[i] = 0;
  }
}

/* the body that turns most in the step that led here, and by how much */
static int fastest(const mbg_model *m, const mbg__alpha_node *n, double *turn) {
  int body = -1;
  *turn = 0;
  for (int b = 0; b < m->nbody; b++) {
    const real *X = n->Dx + m->bodies[b].voff + 3;
    const double x = sqrt(re(X[0]) * re(X[0]) + re(X[1]) * re(X[1]) + re(X[2]) * re(X[2]));
    if (m->bodies[b].carrier < 0 && x > *turn) {
      *turn = x;
      body = b;
    }
  }
  return body;
}

static bool touches(const mbg_model *m, int row, int body) {
  for (int k = m->rows[row].term; k < m->rows[row].term + m->rows[row].nterm; k++) {
    const int pair = m->terms[k].pair;
    if (pair >= 0 && (m->markers[m->pairs[pair].A].body == body || m->markers[m->pairs[pair].B].body == body)) {
      return true;
    }
  }
  return false;
}

/* the row to name: that with the largest |z| of the block on the body that turns most */
static int worst_row(const mbg__alpha_guard *g, const mbg_model *m, int body, int row) {
  double most = 0;
  for (int i = 0; i < g->nrow; i++) {
    if (g->z_block[i] > most && touches(m, i, body)) {
      most = g->z_block[i];
      row = i;
    }
  }
  return row;
}

/* has |z| grown over windows of a length, and is it rough in the last two? The last step is g->steps - 1. */
static bool grows(const mbg__alpha_guard *g, int length, double ratio, double limit) {
  double z[WINDOWS] = {0}, size[WINDOWS] = {0};
  if (g->steps - WINDOWS * length < 3) {
    return false;
  }
  for (int i = 0; i < WINDOWS * length; i++) {
    const int at = (g->steps - 1 - i) % RECENT, k = i / length;
    z[k] = fmax(z[k], g->z_now[at]);
    size[k] = fmax(size[k], g->size_now[at]);
  }
  for (int k = 0; k + 1 < WINDOWS; k++) {
    if (!(z[k] > ratio * z[k + 1])) {
      return false;
    }
  }
  return z[WINDOWS - 1] > 0 && z[0] > limit * size[0] && z[1] > limit * size[1];
}

/* at the end of a block */
static bool block_alarm(mbg__alpha_guard *g) {
  const double now = g->top[0], last = g->top[1], before = g->top[BLOCKS - 1];
  const bool alternates = g->changes[g->row] >= ALTERNATIONS, is_rough = now > rough * g->size;
  const bool counts = g->equal_steps > BLOCKS * BLOCK && now > growth * before && now > relevant * g->size;
  const bool jumps = last > 0 && now > growth * last && is_rough;
  g->alarms = alternates && (counts || jumps) ? g->alarms + 1 : 0;
  g->explosions = before > 0 && now > explosive * before && is_rough ? g->explosions + 1 : 0;
  return g->alarms >= ALARMS || g->explosions >= EXPLOSIONS;
}

/* at the end of a block: a row that has alternated long enough, -1: none */
static int ringing_row(mbg__alpha_guard *g, bool possible) {
  int row = -1;
  for (int i = 0; i < g->nrow; i++) {
    const double z = g->z_block[i];
    const bool rings = possible && g->changes[i] >= ALTERNATIONS - 1 && z > ringing * g->size_block[i] &&
                       z > visible * g->size && (g->rings[i] == 0 || z > 0.5 * g->z_first[i]);
    g->z_first[i] = g->rings[i] == 0 ? z : g->z_first[i];
    g->rings[i] = rings ? g->rings[i] + 1 : 0;
    const bool loud = z > loudest * g->size_block[i];
    row = g->rings[i] >= (loud ? RINGS - 1 : RINGS) ? i : row;
  }
  return row;
}

static void warn(mbg_context *ctx, const mbg__alpha *a, const mbg__alpha_node *n, int row) {
  char label[160];
  mbg__row_label(a->m, row, label, sizeof(label));
  mbg__note(ctx, MBG_WARNING,
            "t = %g (h = %g): the reaction of %s alternates from step to step (%.2g beside %.2g): the step is close to "
            "its limit for a body that spins there; take a smaller step%s",
            mbg__time_shown(re(*n->t)), re(*n->h), label, a->guard->z_block[row], a->guard->size_block[row],
            a->index2 ? "" : " or \"index\": 2");
  a->guard->warned = true;
}

static int stop(mbg_context *ctx, const mbg__alpha *a, const mbg__alpha_node *n, int row, double z, double size) {
  char label[160];
  mbg__row_label(a->m, row, label, sizeof(label));
  return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                   "t = %g (h = %g): the reaction of %s jumps from step to step and grows (%.2g beside %.2g); "
                   "the step is too large for a body that spins there: take a smaller step%s",
                   mbg__time_shown(re(*n->t)), re(*n->h), label, z, size, a->index2 ? "" : " or \"index\": 2");
}

int mbg__alpha_guard_step(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *n) {
  mbg__alpha_guard *g = a->guard;
  if (re(*n->h) <= 0) {
    g->steps = g->alarms = g->explosions = 0;
    for (int k = 0; k < BLOCKS; k++) {
      next_block(g);
    }
  }
  take(g, n->lambda);
  g->equal_steps = fabs(re(*n->h) - g->h) <= 1e-9 * g->h ? g->equal_steps + 1 : 1;
  g->h = re(*n->h);
  const bool block = g->steps % BLOCK == 0 && g->steps > 0;
  g->steps++;
  if (g->nrow == 0) {
    return MBG_OK;
  }
  double turn;
  const int body = fastest(a->m, n, &turn);
  if (turn > fast &&
      (grows(g, 2, 4, 0.06) || grows(g, 2, 2, rough) || grows(g, 4, 1.75, rough) || grows(g, 8, 1.5, rough))) {
    const int at = (g->steps - 1) % RECENT;
    if (g->z_now[at] > rounding(a, re(*n->h))) {
      return stop(ctx, a, n, worst_row(g, a->m, body, g->row_now), g->z_now[at], g->size_now[at]);
    }
  }
  if (block) {
    const bool seen = g->top[0] > rounding(a, re(*n->h));
    if (block_alarm(g) && turn > turning && seen) {
      return stop(ctx, a, n, worst_row(g, a->m, body, g->row), g->top[0], g->size);
    }
    const int row = ringing_row(g, turn > slowest && turn < slow && a->c.af < 0.49);
    if (row >= 0 && !g->warned && seen) {
      warn(ctx, a, n, row);
    }
    next_block(g);
  }
  return MBG_OK;
}
