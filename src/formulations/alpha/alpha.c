/* `lie`: Lie group generalized-alpha, index 3 (Bruls and Sonneville; theory 4). `dae`: index-3 DAE by HHT (Nachbagauer,
   Oberpeilsteiner, Steiner; theory 2), the same stepper with am = 0. */
#include "event/event.h"
#include "formulations/alpha/alpha_work.h"

#include <string.h>

/* ---------------------------------------------------------------------- preparation */

static mbg__alpha_coefs second_order(double am, double af) {
  const double gamma = 0.5 + af - am;
  return (mbg__alpha_coefs){.am = am, .af = af, .gamma = gamma, .beta = (gamma + 0.5) * (gamma + 0.5) / 4};
}

/* by the spectral radius at infinity, or HHT */
static mbg__alpha_coefs coefficients(const mbg__run_plan *plan) {
  const double rho = plan->rho_inf;
  return isnan(rho) ? second_order(0, plan->alpha_f) : second_order((2 * rho - 1) / (rho + 1), rho / (rho + 1));
}

mbg__alpha_coefs mbg__alpha_damped(const mbg__alpha *a, double rho_max) {
  const double rho = fmin(a->rho_inf, rho_max);
  return second_order((2 * rho - 1) / (rho + 1), rho / (rho + 1));
}

static void take_arrays(mbg__alpha *a) {
  const mbg_model *m = a->m;
  const int nK = mbg__csc_count(mbg__system_pattern_K(a->sys)), nB = mbg__csc_count(mbg__system_pattern_B(a->sys));
  a->K = MBG_TAKE(&a->arena, real, nK);
  a->C = MBG_TAKE(&a->arena, real, nK);
  a->M = MBG_TAKE(&a->arena, real, nK);
  a->KT = MBG_TAKE(&a->arena, real, nK);
  a->B = MBG_TAKE(&a->arena, real, nB);
  a->BT = MBG_TAKE(&a->arena, real, nB);
  a->late = MBG_TAKE(&a->arena, real, mbg__system_late_rows(a->sys, NULL) * m->nrow + 1);
  a->T = MBG_TAKE(&a->arena, real, 36 * m->nbody);
  a->x = MBG_TAKE(&a->arena, real, m->nv + m->nrow);
  a->r = MBG_TAKE(&a->arena, real, m->nw);
  a->phi = MBG_TAKE(&a->arena, real, m->nrow);
  a->al0 = MBG_TAKE(&a->arena, real, m->nw);
  a->q = MBG_TAKE(&a->arena, real, m->ncoord);
  a->q_end = MBG_TAKE(&a->arena, real, m->ncoord);
  a->turns = MBG_TAKE(&a->arena, int, m->nturn);
  a->known = MBG_TAKE(&a->arena, double, m->nw + m->nrow);
}

static void destroy(mbg__alpha *a) {
  if (!a) {
    return;
  }
  const mbg_allocator allocator = a->arena.allocator;
  mbg__march_destroy(a->march);
  mbg__alpha_kept_clear(a);
  mbg__alpha_index2_destroy(a->index2);
  mbg__saddle_destroy(&a->saddle);
  mbg__saddle_destroy(&a->initial);
  mbg__arena_destroy(&a->arena);
  allocator.release(allocator.user, a);
}

/* Steps whose ratios lie within 1/growth and growth are stable (theory 4, section 15); rho_inf = 1 damps nothing. */
static double growth(const mbg__run_plan *plan) {
  const double af = plan->alpha_f, rho = isnan(plan->rho_inf) ? (1 - af) / (1 + af) : plan->rho_inf;
  return 1 + fmax(1 - rho, 0.02) / 2;
}

static int create_march(mbg_context *ctx, mbg__alpha *a, const mbg__run_plan *plan) {
  mbg__march_method method = mbg__alpha_method;
  method.bytes = mbg__alpha_node_bytes(a);
  method.growth = growth(plan);
  method.shortest = a->m->nrow > 0 ? 1e-8 : 0; /* constraints leave eps |x|/h^2 in the accelerations of a step */
  const int err = mbg__march_create(ctx, plan, &method, a, a->m->nw, a->nused, a->used, &a->march);
  a->counts = a->march ? mbg__march_counts(a->march) : NULL;
  return err;
}

static int check_events(mbg_context *ctx, const mbg__alpha *a, const mbg__run_plan *plan) {
  if (plan->index == 2) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "\"index\": 2 takes no events; use index 3");
  }
  if (a->nrotor > 0) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "body '%s': \"axes\": \"world\" cannot stand beside events",
                     a->m->bodies[a->rotors[0].body].name);
  }
  return MBG_OK;
}

static int prepare(mbg_context *ctx, mbg__system *sys, mbg__start_work *start, const mbg__run_plan *plan, int nused,
                   const int *used, mbg__formulation_work **out) {
  int err = MBG_OK;
  mbg__alpha *a = mbg__alloc_zero(ctx, 1, sizeof(*a));
  *out = NULL;
  if (!a) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&a->arena, mbg__context_allocator(ctx));
  a->m = mbg__system_model(sys);
  a->sys = sys;
  a->start = start;
  a->rank = mbg__start_result_of(start)->rank;
  a->nused = nused;
  a->used = used;
  a->c = coefficients(plan);
  a->rho_inf = plan->rho_inf;
  a->events = plan->events;
  a->solved = plan->index == 2 ? NULL : plan->solved;
  a->repeated = plan->repeated;
  take_arrays(a);
  MBG_TRY(mbg__arena_check(ctx, &a->arena));
  if (plan->index == 2) {
    MBG_TRY(mbg__formulation_late(ctx, a->m, "index 2 of 'lie'", "index 3, 'qr' or 'dca'"));
    MBG_TRY(mbg__rates_refused(ctx, a->m, "index 2 of 'lie'", "take index 3"));
  } else {
    MBG_TRY(mbg__alpha_rates_create(ctx, a));
  }
  MBG_TRY(mbg__saddle_create(ctx, &a->arena, sys, 0, NULL, MBG__KLU_FROZEN, &a->initial));
  MBG_TRY(mbg__rotors_find(ctx, a, plan->index != 2 && !plan->events));
  if (plan->events) {
    MBG_TRY(check_events(ctx, a, plan));
    mbg__events_share(plan->events, &a->initial);
  }
  MBG_TRY(mbg__alpha_guard_create(ctx, a));
  if (plan->index == 2) {
    MBG_TRY(mbg__alpha_index2_create(ctx, a, &a->index2));
  } else {
    MBG_TRY(mbg__saddle_create(ctx, &a->arena, sys, 0, NULL, MBG__KLU_FROZEN, &a->saddle));
    a->klu = a->saddle.klu;
    a->n = a->saddle.n;
    a->atL = a->m->nv;
    a->atE = -1;
  }
  MBG_TRY(create_march(ctx, a, plan));
done:
  if (err < 0) {
    destroy(a);
    a = NULL;
  }
  *out = a;
  return err;
}

/* ---------------------------------------------------------------------- table */

static int simulate(mbg_context *ctx, mbg__alpha *a, bool frozen, mbg__nodes *nodes) {
  return mbg__march_simulate(ctx, a->march, frozen, nodes);
}

static int adjoint(mbg_context *ctx, mbg__alpha *a, mbg_method method, int ncrit, const mbg__criterion_seeds *seeds,
                   real *psi_a) {
  if (method != MBG_METHOD_ADJOINT && a->events) {
    return mbg__fail(
        ctx, MBG_ERROR_UNSUPPORTED,
        "the continuous adjoint of this formulation knows no events; use the method 'adjoint' or 'direct'");
  }
  if (method != MBG_METHOD_ADJOINT) {
    int err = mbg__formulation_late(ctx, a->m, "the continuous adjoint", "the method 'adjoint'");
    err = err < 0 ? err : mbg__rates_refused(ctx, a->m, "the continuous adjoint", "take the method 'adjoint'");
    if (err < 0) {
      return err;
    }
  }
  return method == MBG_METHOD_ADJOINT      ? mbg__alpha_adjoint(ctx, a, ncrit, seeds, psi_a)
         : method == MBG_METHOD_CONTINUOUS ? mbg__alpha_continuous(ctx, a, ncrit, seeds, psi_a)
         : isnan(a->rho_inf)               ? mbg__alpha_paper(ctx, a, ncrit, seeds, psi_a)
                                           : mbg__alpha_second(ctx, a, ncrit, seeds, psi_a);
}

static int last(const mbg__alpha *a, double *t, mbg__frame *H, real *v, int *turns) {
  const void *block = mbg__march_last(a->march);
  if (!block) {
    return MBG_ERROR_INPUT;
  }
  const mbg__alpha_node n = mbg__alpha_view(a, block);
  *t = re(*n.t);
  memcpy(H, n.H, (size_t)a->m->nbody * sizeof(*H));
  memcpy(v, mbg__alpha_state(a, &n).v, (size_t)a->m->nw * sizeof(real));
  memcpy(turns, n.turns, (size_t)a->m->nturn * sizeof(int));
  return MBG_OK;
}

static int memory(const mbg__alpha *a, real *numbers) {
  const void *block = mbg__march_last(a->march);
  if (!block) {
    return 0;
  }
  const mbg__alpha_node n = mbg__alpha_view(a, block);
  return mbg__alpha_memory(a, &n, numbers);
}

static void forget(mbg__alpha *a, const int *place, mbg__nodes *nodes) {
  mbg__march_forget(a->march, place);
  *nodes = *mbg__march_nodes(a->march);
}

static bool solved(const mbg__alpha *a, double t, double *x) {
  const void *block = mbg__march_find(a->march, t);
  if (!block) {
    return false;
  }
  const mbg__alpha_node n = mbg__alpha_view(a, block);
  for (int i = 0; i < a->m->nw; i++) {
    x[i] = re(n.Dx[i]);
  }
  for (int i = 0; i < a->m->nrow; i++) {
    x[a->m->nw + i] = re(n.lambda[i]);
  }
  return true;
}

static const mbg__work_counts *counts(const mbg__alpha *a) { return a->counts; }

static const real *node_time(const mbg__alpha *a) { return a->dt; }

extern const mbg__formulation_ops mbg__alpha_ops;

const mbg__formulation_ops mbg__alpha_ops = {
    .prepare = prepare,
    .simulate = simulate,
    .tangent = mbg__alpha_tangent,
    .adjoint = adjoint,
    .last = last,
    .memory = memory,
    .forget = forget,
    .solved = solved,
    .node_time = node_time,
    .counts = counts,
    .destroy = destroy,
};
