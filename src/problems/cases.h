/* cases: the models of a problem, one per run (load cases, experiments), and the parameters that the problem varies. */
#ifndef MBG_PROBLEMS_CASES_H
#define MBG_PROBLEMS_CASES_H

#include "model/model.h"

/* A model made for one of its runs, and a model without runs, is one case; any other has a case per run. */
int mbg__case_count(const mbg_model *model);
/* The model of case k: the given one, or (*own, the caller's to destroy) one made for a run or for tracking. */
int mbg__case_model(mbg_context *ctx, const mbg_model *model, int k, const mbg__tracking *tracking,
                    const mbg_model **out, mbg_model **own, int *ntracked);

/* Entries of the parameter vector that are varied: a list of the model (n > 0), else the parameters with bounds, else
   none or all. index: np. Returns their number. */
int mbg__list_varied(const mbg_model *m, int n, const int *list, bool otherwise_all, int *index);

/* Values of all parameters at the start (np): given ones, or nominal; a run may set a value that the others leave
   alone. */
void mbg__start_values(int n, const mbg_model *const *models, const double *given, double *p);

/* A parameter that every case sets cannot be varied. verb: "varied". */
int mbg__check_varied(mbg_context *ctx, int n, const mbg_model *const *models, int index, const char *verb);

/* The start of a parameter is finite, and positive on a logarithmic scale. */
int mbg__check_start(mbg_context *ctx, const mbg_model *m, int index, double start);

/* Name of a parameter in the arena; NULL: out of memory. */
const char *mbg__parameter_text(mbg__arena *arena, const mbg_model *m, int index);

/* Several starts need finite bounds of the unknown. */
int mbg__check_box(mbg_context *ctx, const char *name, double lower, double upper, bool log_scale);

/* Parameters of a case (np): set by its run, else from p. */
void mbg__case_parameters(const mbg_model *m, const double *p, double *out);

/* A status that a shorter step of the optimizer may cure. */
bool mbg__curable(int status);

#endif
