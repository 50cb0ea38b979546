/* Algebraic loops: what forces must not use, because it depends on them. */
#include "load/load.h"

#include <string.h>

bool mbg__signal_of_loads(const mbg__loader *L, int signal) {
  const mbg__signal *s = &L->signals.at[signal];
  if (s->fn < 0 || !L->signal_whole.at[signal]) {
    return L->signal_whole.at[signal] && s->type->role != MBG__ROLE_CURVE;
  }
  const mbg__fn *fn = &L->fns.at[s->fn];
  for (int k = 0; k < fn->ninput; k++) {
    if (fn->input[k].role == MBG__ROLE_SIGNAL && fn->input[k].index < signal &&
        mbg__signal_of_loads(L, fn->input[k].index)) {
      return true;
    }
  }
  return false;
}

bool mbg__signal_of_curve(const mbg__loader *L, int signal) {
  return L->signals.at[signal].level <= MBG__LEVEL_VELOCITY && L->signal_whole.at[signal] &&
         !mbg__signal_of_loads(L, signal);
}

int mbg__signal_curve_refused(mbg__item *item, const mbg__signal *signal, const mbg__fn *fn) {
  return mbg__item_filed(item,
                         mbg__fail_at(item->L->ctx, MBG_ERROR_INPUT, mbg__expr_where(fn->expr), 0,
                                      "signal '%s' is the contact point of a joint on a curve, which forces cannot "
                                      "use; put a state between, such as a lag with a short time",
                                      signal->name));
}

static const char *needs(const mbg__signal *signal) {
  return signal->level == MBG__LEVEL_ACCELERATION ? "accelerations"
         : signal->level == MBG__LEVEL_REACTION   ? "reactions"
                                                  : "forces, energies or strains of beams";
}

static bool is_late(const mbg__loader *L, int signal) {
  return L->signals.at[signal].level > MBG__LEVEL_VELOCITY || L->signal_whole.at[signal];
}

/* " by 'u', 'rate(x)', 'acc'": the signals that lead from an expression to what forces must not use; "" for the last */
static void list_chain(const mbg__loader *L, int signal, char *text, size_t size) {
  size_t n = 0;
  text[0] = 0;
  while (L->signals.at[signal].fn >= 0 && n + 1 < size) {
    const mbg__fn *fn = &L->fns.at[L->signals.at[signal].fn];
    int k = 0;
    while (k < fn->ninput && (fn->input[k].role != MBG__ROLE_SIGNAL || !is_late(L, fn->input[k].index))) {
      k++;
    }
    if (k == fn->ninput || fn->input[k].index >= signal) { /* a cycle, reported elsewhere */
      return;
    }
    signal = fn->input[k].index;
    mbg__format(text + n, size - n, "%s '%s'", n == 0 ? " by" : ",", L->signals.at[signal].name);
    n = strlen(text);
  }
}

/* A force may depend on positions and velocities: anything else depends on forces itself. The rate of a state may use
   all of them, because forces depend on the state alone. */
int mbg__check_law(mbg__loader *L, mbg__symbol *symbol, int index) {
  int err = MBG_OK;
  mbg__force *force = &L->forces.at[index];
  const bool rate = force->law == &mbg__state_rate;
  mbg__item item;
  MBG_TRY(mbg__item_open(L, symbol, &item));
  for (int k = force->fn; !symbol->bad && k < force->fn + force->nfn; k++) {
    const mbg__fn *fn = &L->fns.at[k];
    for (int i = 0; i < fn->ninput; i++) {
      const int s = fn->input[i].index;
      if (fn->input[i].role != MBG__ROLE_SIGNAL || L->names[MBG__NAME_SIGNAL].at[s]->bad) {
        continue;
      }
      const mbg__signal *signal = &L->signals.at[s];
      force->late = force->late || (rate && is_late(L, s));
      if (!rate && mbg__signal_of_curve(L, s)) {
        MBG_TRY(mbg__signal_curve_refused(&item, signal, fn));
      } else if (!rate && is_late(L, s)) {
        char chain[200];
        list_chain(L, s, chain, sizeof(chain));
        MBG_TRY(mbg__item_filed(
            &item, mbg__fail_at(L->ctx, MBG_ERROR_INPUT, mbg__expr_where(fn->expr), 0,
                                "algebraic loop: signal '%s' depends on %s%s, which depend on this force; put a state "
                                "between, such as a lag with a short time",
                                signal->name, needs(signal), chain)));
      }
    }
  }
done:
  return err;
}

const mbg__signal_type *mbg__signal_of_role(int role) {
  int n;
  const mbg__signal_type *const *types = mbg__signal_types(&n);
  for (int i = 0; i < n; i++) {
    if (types[i]->role == role) {
      return types[i];
    }
  }
  return NULL;
}
