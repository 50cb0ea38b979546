#include "formulations/formulation.h"

#include <string.h>

extern const mbg__formulation mbg__formulation_lie;
extern const mbg__formulation mbg__formulation_dae;
extern const mbg__formulation mbg__formulation_qr;
extern const mbg__formulation mbg__formulation_ali3p;
extern const mbg__formulation mbg__formulation_dca;

static const mbg__formulation *const list[] = {&mbg__formulation_lie, &mbg__formulation_dae, &mbg__formulation_qr,
                                               &mbg__formulation_ali3p, &mbg__formulation_dca};

const mbg__formulation *const *mbg__formulations(int *count) {
  *count = MBG_COUNT(list);
  return list;
}

const mbg__formulation *mbg__formulation_find(const char *key) {
  for (int i = 0; i < MBG_COUNT(list); i++) {
    if (!strcmp(list[i]->key, key)) {
      return list[i];
    }
  }
  return NULL;
}
