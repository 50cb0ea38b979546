/* The table of formulations, made from formulations.def. */
#include "formulations/formulation.h"

#include <string.h>

/* folders with several formulations declare their functions several times */
#define MBG_FORMULATION(key, folder, ...) extern const mbg__formulation_ops mbg__##folder##_ops;
#include "formulations/formulations.def"

#define BY(method) (1u << MBG_METHOD_##method)
#define MBG_FORMULATION(k, folder, n, p, by, what, power, rho, af, words, direct, adjoint, pass)                       \
  {.key = #k,                                                                                                          \
   .name = n,                                                                                                          \
   .paper = p,                                                                                                         \
   .methods = (by),                                                                                                    \
   .supports = (what),                                                                                                 \
   .order = (power),                                                                                                   \
   .rho_inf = (rho),                                                                                                   \
   .alpha_f = (af),                                                                                                    \
   .integrators = words,                                                                                               \
   .cost_direct = (direct),                                                                                            \
   .cost_adjoint = (adjoint),                                                                                          \
   .cost_pass = (pass),                                                                                                \
   .ops = &mbg__##folder##_ops},
static const mbg__formulation table[] = {
#include "formulations/formulations.def"
};

#define MBG_METHOD(id, name) [MBG_METHOD_##id] = name,
static const char *const method_names[] = {
#include "formulations/formulations.def"
};
_Static_assert(MBG_COUNT(method_names) == MBG_METHOD_COUNT, "formulations.def names every mbg_method");

/* ---------------------------------------------------------------------- formulations */

const mbg__formulation *mbg__formulations(int *count) {
  *count = MBG_COUNT(table);
  return table;
}

const mbg__formulation *mbg__formulation_find(const char *key) {
  for (int i = 0; i < MBG_COUNT(table); i++) {
    if (!strcmp(table[i].key, key)) {
      return &table[i];
    }
  }
  return NULL;
}

bool mbg__formulation_has(const mbg__formulation *f, mbg_method method) {
  return method == MBG_METHOD_AUTO || (f->methods >> method & 1) != 0;
}

static const mbg__formulation *at(int index) { return index >= 0 && index < MBG_COUNT(table) ? &table[index] : NULL; }

int mbg_formulation_count(void) { return MBG_COUNT(table); }

const char *mbg_formulation_key(int index) { return at(index) ? at(index)->key : NULL; }

const char *mbg_formulation_name(int index) { return at(index) ? at(index)->name : NULL; }

const char *mbg_formulation_paper(int index) { return at(index) ? at(index)->paper : NULL; }

const char *mbg_formulation_integrators(int index) { return at(index) ? at(index)->integrators : NULL; }

bool mbg_formulation_has(int index, mbg_method method) {
  return at(index) && method >= 0 && method < MBG_METHOD_COUNT && mbg__formulation_has(at(index), method);
}

/* ---------------------------------------------------------------------- methods */

const char *mbg_method_name(int method) {
  return method >= 0 && method < MBG_METHOD_COUNT ? method_names[method] : NULL;
}

int mbg_method_find(const char *name) {
  for (int i = 0; name && i < MBG_METHOD_COUNT; i++) {
    if (!strcmp(name, method_names[i])) {
      return i;
    }
  }
  return -1;
}
