/* scatter: how parameters scatter, as model and command line say. */
#ifndef CLI_SCATTER_H
#define CLI_SCATTER_H

#include "mbgrad/uncertainty.h"
#include "session.h"

#define CLI_OPTIONS_SCATTER                                                                                            \
  {"spread", "NAME=VALUE", true, "standard deviation of a parameter; 5%: of its value; 5% alone: of all"},             \
      {"uniform", "A,B,...", false, "these parameters are uniform, not normal"},                                       \
      {"correlation", "A,B=VALUE", true, "correlation of two normal parameters"}, {                                    \
    "covariance", "FILE.csv", false, "covariance matrix instead: names of parameters, then its rows"                   \
  }

/* The parameters that scatter. */
typedef struct {
  int count;
  int *index; /* in the parameter vector, rising                   (count) */
  mbg_scatter scatter;
  mbg_distribution *kind;
  double *deviation, *correlation;
} cli_scatter;

/* CLI_BAD_INPUT with a message for what cannot be, and when no parameter scatters; destroy it in either case. */
int cli_scatter_make(cli_scatter *s, const cli_session *session, const cli_args *args);
void cli_scatter_destroy(cli_scatter *s);

#endif
