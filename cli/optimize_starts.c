#include "optimize_starts.h"

#include "jobs.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  const mbg_model *model;
  const char *stem; /* of the restart files */
  const mbg_optimize_options *o;
} task;

static char *file_of(const char *stem, int k) { return cli_format("%s.%d", stem, k); }

/* Ctrl-C reaches every process; one whose parent is gone works for nobody */
static bool interrupt(void *user) {
  const mbg_run_options *run = user;
  return cli_jobs_parent_died() || (run->interrupt && run->interrupt(run->user));
}

static bool quiet(void *user, const mbg_optimize_state *state) {
  (void)state;
  return interrupt(user);
}

static void run_start(void *user, int k, void *out) {
  const task *t = user;
  cli_start *result = out;
  mbg_optimize_options o = *t->o;
  mbg_run_options run = *t->o->run;
  mbg_context *ctx = NULL;
  mbg_optimize *opt = NULL;
  char *file = file_of(t->stem, k);
  o.place = k;
  o.restart = file;
  run.interrupt = interrupt;
  run.user = o.user = (void *)t->o->run;
  o.run = &run;
  o.progress = quiet;
  result->status = mbg_context_create(NULL, &ctx);
  if (result->status == MBG_OK) {
    result->status = mbg_optimize_create(ctx, t->model, &o, &opt);
  }
  if (result->status == MBG_OK) {
    result->status = mbg_optimize_solve(ctx, opt);
  }
  if (result->status == MBG_OK) {
    const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
    *result = (cli_start){MBG_OK,        s->objective_start, s->objective,  s->violation,
                          s->optimality, (int)s->reason,     s->iterations, s->feasible};
  }
  mbg_optimize_destroy(opt);
  mbg_context_destroy(ctx);
  free(file);
}

/* the lowest feasible start, else the one with the least violation */
static int best_of(int n, const cli_start *s) {
  int best = -1;
  for (int k = 0; k < n; k++) {
    if (s[k].status < 0) {
      continue;
    }
    const cli_start *b = best < 0 ? NULL : &s[best];
    const bool better = !b || (s[k].feasible != b->feasible ? s[k].feasible
                               : s[k].feasible              ? s[k].objective < b->objective
                                                            : s[k].violation < b->violation);
    best = better ? k : best;
  }
  return best;
}

static char *temporary_stem(void) {
  const char *folder = getenv("TMPDIR");
  char *stem = cli_format("%s/mbgrad-optimize-XXXXXX", folder ? folder : "/tmp");
  const int file = mkstemp(stem);
  if (file >= 0) {
    close(file);
  }
  return stem;
}

int cli_optimize_starts(const mbg_model *model, mbg_optimize_options *o, int n, int jobs, cli_start **starts,
                        int *best) {
  task t = {.model = model, .o = o};
  char *stem = o->restart ? cli_copy(o->restart) : temporary_stem();
  t.stem = stem;
  *starts = cli_resize(NULL, (size_t)n, sizeof(**starts));
  for (int k = 0; k < n; k++) {
    (*starts)[k] = (cli_start){.status = MBG_ERROR_INTERRUPTED};
  }
  const int lost = cli_jobs_run(n, jobs, sizeof(**starts), *starts, run_start, &t);
  *best = best_of(n, *starts);
  /* the best one again, from its record; when none ended well the first, for its message */
  o->place = *best >= 0 ? *best : 0;
  o->restart = file_of(stem, o->place);
  o->resume = true;
  free(stem);
  return lost < 0 ? CLI_FAILED : CLI_DONE;
}

void cli_optimize_starts_end(mbg_optimize_options *o, int n, const char *given) {
  if (n < 2 || !o->restart || o->restart == given) {
    return;
  }
  char *stem = cli_format("%.*s", (int)(strrchr(o->restart, '.') - o->restart), o->restart);
  for (int k = 0; !given && k < n; k++) {
    char *file = file_of(stem, k);
    remove(file);
    free(file);
  }
  if (!given) {
    remove(stem);
  }
  free(stem);
  free((char *)o->restart);
  o->restart = NULL;
}
