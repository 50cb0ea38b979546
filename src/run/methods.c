/* The formulation of a run and its methods of differentiation. */
#include "run/run_internal.h"

#include <string.h>

static int find_formulation(mbg_context *ctx, const char *key, const mbg__formulation **out) {
  const char *keys[32];
  char known[256];
  *out = mbg__formulation_find(key);
  if (*out) {
    return MBG_OK;
  }
  int n = 0;
  while (n < MBG_COUNT(keys) && mbg_formulation_key(n)) {
    keys[n] = mbg_formulation_key(n);
    n++;
  }
  mbg__known(known, sizeof(known), key, keys, n);
  return mbg__fail(ctx, MBG_ERROR_INPUT, "unknown formulation '%s'%s", key, known);
}

/* "'lie', 'dae'": the formulations that have a capability, or that do not have it */
static void list_those(unsigned capability, bool have, char *who, size_t size) {
  int n;
  const mbg__formulation *list = mbg__formulations(&n);
  who[0] = '\0';
  for (int i = 0; i < n; i++) {
    const size_t used = strlen(who);
    if (((list[i].supports & capability) != 0) == have) {
      mbg__format(who + used, size - used, "%s'%s'", used ? ", " : "", list[i].key);
    }
  }
}

/* flexible bodies have masses that couple: not every formulation takes them */
static int check_flexible(mbg_context *ctx, const mbg_model *m, const mbg__formulation *f) {
  char who[128];
  if (!(f->supports & MBG__RIGID) || m->nelement + m->nmodal == 0) {
    return MBG_OK;
  }
  list_those(MBG__RIGID, false, who, sizeof(who));
  return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "formulation '%s' takes no %s; these do: %s", f->key,
                   m->nelement > 0 ? "beams" : "modal bodies", who);
}

/* events need steps whose length follows them */
static int check_events(mbg_context *ctx, const mbg_model *m, const mbg__formulation *f) {
  char who[128];
  if (m->nevent == 0 || (f->supports & MBG__EVENTS)) {
    return MBG_OK;
  }
  list_those(MBG__EVENTS, true, who, sizeof(who));
  return mbg__fail_at(ctx, MBG_ERROR_UNSUPPORTED, &m->events[0].where, 0,
                      "formulation '%s' takes no events; these do: %s", f->key, who);
}

int mbg__run_choose_formulation(mbg_context *ctx, const char *option, const mbg_model *m,
                                const mbg__formulation **out) {
  const char *own = m->run.formulation ? m->run.formulation : "lie";
  const int err = find_formulation(ctx, option ? option : own, out);
  const int flexible = err < 0 ? err : check_flexible(ctx, m, *out);
  return flexible < 0 ? flexible : check_events(ctx, m, *out);
}

static bool has(const mbg_run *run, mbg_method method) {
  const mbg__formulation *f = run->formulation;
  return mbg__formulation_has(f, method) && (!f->ops->has || f->ops->has(&run->plan, method));
}

mbg_method mbg_run_adjoint_method(const mbg_run *run) {
  if (!run) {
    return MBG_METHOD_AUTO;
  }
  return has(run, MBG_METHOD_ADJOINT) ? MBG_METHOD_ADJOINT : MBG_METHOD_CONTINUOUS;
}

mbg_method mbg__run_choose_method(const mbg_run *run, mbg_method method, int ncriterion) {
  if (method != MBG_METHOD_AUTO) {
    return method;
  }
  if (run->method != MBG_METHOD_AUTO) {
    return run->method;
  }
  const double direct = run->formulation->cost_pass + run->m->np * run->formulation->cost_direct;
  const double adjoint = ncriterion * run->formulation->cost_adjoint;
  return direct <= adjoint ? MBG_METHOD_DIRECT : mbg_run_adjoint_method(run);
}

int mbg__run_check_method(mbg_context *ctx, const mbg_run *run, mbg_method method) {
  int n;
  const mbg__formulation *list = mbg__formulations(&n);
  if (method < 0 || method >= MBG_METHOD_COUNT) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "unknown gradient method %d", (int)method);
  }
  if (has(run, method)) {
    return MBG_OK;
  }
  if (mbg__formulation_has(run->formulation, method)) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                     "integrator '%s' has no method '%s', which transposes the steps of a Runge-Kutta pair; take "
                     "method '%s' or another integrator",
                     run->plan.integrator, mbg_method_name(method), mbg_method_name(mbg_run_adjoint_method(run)));
  }
  for (int i = 0; i < n; i++) {
    if (mbg__formulation_has(&list[i], method)) {
      return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "formulation '%s' has no method '%s'; '%s' has it",
                       run->formulation->key, mbg_method_name(method), list[i].key);
    }
  }
  return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "no formulation has the method '%s'", mbg_method_name(method));
}
