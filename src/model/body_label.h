/* body_label: the name of a body in messages. States are carried by bodies that no file shows: their own names. */
#ifndef MBG_MODEL_BODY_LABEL_H
#define MBG_MODEL_BODY_LABEL_H

#include "model/model.h"

#include <string.h>

/* "body 'rod'", "state 'F'", or of a carrier of several "states 'F', 'x', 'y'". component: of its velocity, which says
   which state it is; -1: not known. */
static inline void mbg__body_label(const mbg_model *m, int body, int component, char *buffer, size_t size) {
  const int first = m->bodies[body].state;
  const int n = first < 0 ? 0 : m->nstate - first < 3 ? m->nstate - first : 3;
  if (n == 0) {
    mbg__format(buffer, size, "body '%s'", m->bodies[body].name);
  } else if (n == 1 || (component >= 0 && component < n)) {
    mbg__format(buffer, size, "state '%s'", m->states[first + (n == 1 ? 0 : component)].name);
  } else {
    mbg__format(buffer, size, "states");
    for (int k = 0; k < n; k++) {
      const size_t used = strlen(buffer);
      mbg__format(buffer + used, size - used, "%s '%s'", k ? "," : "", m->states[first + k].name);
    }
  }
}

#endif
