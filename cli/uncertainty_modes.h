/* uncertainty_modes: frequencies and damping ratios of modes as numbers that scatter. */
#ifndef CLI_UNCERTAINTY_MODES_H
#define CLI_UNCERTAINTY_MODES_H

#include "mbgrad/modes.h"
#include "uncertainty_report.h"

#define CLI_OPTIONS_MODES_SCATTER                                                                                      \
  {"modes", "N", false, "scatter of f1, f2, ..., the frequencies of the lowest N modes, and damping1, ..., instead"},  \
      {"at", "POINT", false, "with --modes: equilibrium (default), start or steady"}, {                                \
    "undamped", NULL, false, "with --modes: leave damping out"                                                         \
  }

/* The numbers: f1 .. of modes that oscillate, by --criteria also damping1 .. */
typedef struct {
  mbg_modes_options options;
  mbg_modes *modes; /* nominal, with gradients */
  int count;
  int *mode;     /* (count) */
  bool *damping; /* the damping ratio, not the frequency  (count) */
  char **name;   /* (count) */
} cli_mode_scatter;

/* Reads the options, solves at the nominal parameters and lists the numbers. Exit status; destroy it in either case. */
int cli_mode_scatter_make(cli_mode_scatter *s, cli_session *session, const cli_args *args);
void cli_mode_scatter_destroy(cli_mode_scatter *s);

/* Values, gradients and, if asked, second derivatives by the scattering parameters into u. Exit status. */
int cli_mode_scatter_differentiate(const cli_mode_scatter *s, cli_session *session, bool second, cli_uncertainty *u);
/* The numbers at these parameters (count). Status of the library. */
int cli_mode_scatter_evaluate(const cli_mode_scatter *s, mbg_context *ctx, const mbg_model *model,
                              const double *parameters, double *values);

#endif
