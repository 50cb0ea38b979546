/* A model in the library and in the twin, with a state: what property tests compare. */
#ifndef SUPPORT_MODEL_CASE_H
#define SUPPORT_MODEL_CASE_H

#include "support/support.h"
#include "system/system.h"
#include "twin/twin_system.h"

typedef struct {
  mbg_context *ctx;
  mbg_model *m;
  mbg__arena arena; /* for whatever lives as long as the case */
  mbg__design *design;
  mbg__system *sys;
  twin_system *twin;
  double *p; /* parameters of the design                       (np) */
  double t;
  mbg__frame *H;
  double *v, *vd, *lambda;
  int *turns;
} model_case;

/* Loads the text, or (text NULL) the file, into both; fails the test with the message when it is refused. The design is
   that of the nominal parameters. */
void model_case_open(model_case *c, const char *file, const char *text);
void model_case_close(model_case *c);

/* Design of both at c->p times (1 + spread * random): spread 0 gives the nominal one. */
void model_case_design(model_case *c, support_rng *rng, double spread);

/* A state near the design configuration, within the motions of the bodies but not on the constraints: frames moved by
   about `distance`, rates, accelerations and multipliers of order 1, t in 0.05-1.5; the library is updated and
   linearized there, signals included. */
void model_case_state(model_case *c, support_rng *rng, double distance);
/* Updates and linearizes the library at the state of the case. */
void model_case_update(model_case *c);

/* Memory of the case. */
double *model_case_array(model_case *c, int count);

/* ---------------------------------------------------------------------- directions */

/* Everything that may vary, with dt for explicit time (the twin only). Arrays belong to the case; NULL: 0. */
typedef struct {
  double *w, *dv, *dvd, *dlambda, *da;
  double dt;
} model_direction;

/* What comes out: derivatives in a direction. */
typedef struct {
  double *r, *phi, *phid, *phidd, *y;
} model_change;

model_change model_change_make(model_case *c);
/* Random numbers within the motions of the bodies. */
void model_case_random_velocity(model_case *c, support_rng *rng, double *w);

/* By complex step of the twin at the state of the case; by the library's push. */
void model_case_twin(model_case *c, const model_direction *d, const model_change *out);
void model_case_push(model_case *c, const model_direction *d, const model_change *out);

#endif
