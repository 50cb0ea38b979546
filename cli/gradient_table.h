/* gradient_table: gradients as tables, parameters down and criteria across. */
#ifndef CLI_GRADIENT_TABLE_H
#define CLI_GRADIENT_TABLE_H

#include "mbgrad/model.h"

#include <stdbool.h>

/* Which entries of the parameters a table shows. */
typedef struct {
  int count;
  int *index; /* of scalar parameters, rising; to be freed       (count) */
  int hidden; /* entries left out */
} cli_entries;

/* All scalars and short vectors; of a long vector the entries with the largest effect on any criterion, unless `full`.
   gradient: ncriteria x nparameters, NAN where it is not wanted; p: the parameters. */
cli_entries cli_entries_choose(const mbg_model *model, const double *gradient, const double *p, bool full);

/* Some of the model's criteria, in its order. */
typedef struct {
  int count;
  int *index; /* to be freed                                       (count) */
} cli_criteria;
/* The criteria of a list "A,B,...", all without one. CLI_BAD_INPUT with a message for a name that there is not. */
int cli_criteria_choose(const mbg_model *model, const char *list, cli_criteria *chosen);

/* Values of criteria, then their gradient; psi and gradient have places for all of them. */
void cli_criteria_print(const mbg_model *model, const cli_criteria *chosen, const double *psi);
void cli_gradient_print(const mbg_model *model, const cli_criteria *chosen, const double *gradient, const double *p,
                        bool full);

/* Has the model criteria and parameters? CLI_BAD_INPUT with a message when not. */
int cli_need_gradient(const mbg_model *model);

/* Size by which the effect of a parameter is measured: |p|, or 1 for 0. */
double cli_parameter_size(const double *p, int index);

/* Largest |g - h| relative to |g_k| + max_j |p_j g_j| / |p_k|: two gradients of one criterion (np). */
double cli_gradient_difference(const double *g, const double *h, const double *p, int np);

#endif
