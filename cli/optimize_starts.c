#include "optimize_starts.h"

#include "files.h"
#include "jobs.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
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

/* ---------------------------------------------------------------------- temporary records */

static const char prefix[] = "mbgrad-optimize-";

static const char *temporary(void) {
  const char *folder = getenv("TMPDIR");
  return folder && *folder ? folder : "/tmp";
}

/* removes a folder of records */
static void remove_folder(const char *path) {
  DIR *dir = opendir(path);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    char *file = cli_format("%s/%s", path, entry->d_name);
    unlink(file);
    free(file);
  }
  if (dir) {
    closedir(dir);
  }
  rmdir(path);
}

/* folders of processes that were killed */
static void remove_abandoned(void) {
  DIR *dir = opendir(temporary());
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    if (cli_abandoned(temporary(), entry->d_name, prefix)) {
      char *path = cli_format("%s/%s", temporary(), entry->d_name);
      remove_folder(path);
      free(path);
    }
  }
  if (dir) {
    closedir(dir);
  }
}

/* a folder of its own, NULL with a message */
static char *make_folder(void) {
  remove_abandoned();
  char *folder = cli_format("%s/%s%ld-XXXXXX", temporary(), prefix, (long)getpid());
  if (!mkdtemp(folder)) {
    (void)cli_failed("cannot make a folder for the records of the starts in '%s': %s", temporary(), strerror(errno));
    free(folder);
    return NULL;
  }
  return folder;
}

/* ---------------------------------------------------------------------- all starts */

static bool stop(void *user) {
  const mbg_run_options *run = ((const task *)user)->o->run;
  return run->interrupt && run->interrupt(run->user);
}

int cli_optimize_starts(const mbg_model *model, mbg_optimize_options *o, int n, int jobs, cli_starts *s) {
  *s = (cli_starts){.folder = o->restart ? NULL : make_folder()};
  if (!o->restart && !s->folder) {
    return CLI_FAILED;
  }
  char *stem = o->restart ? cli_copy(o->restart) : cli_format("%s/start", s->folder);
  task t = {.model = model, .stem = stem, .o = o};
  s->list = cli_resize(NULL, (size_t)n, sizeof(*s->list));
  for (int k = 0; k < n; k++) {
    s->list[k] = (cli_start){.status = MBG_ERROR_INTERRUPTED};
  }
  const cli_jobs work = {.pieces = n,
                         .jobs = jobs,
                         .size = sizeof(*s->list),
                         .results = s->list,
                         .work = run_start,
                         .stop = stop,
                         .user = &t};
  const int lost = cli_jobs_run(&work);
  s->best = best_of(n, s->list);
  for (int k = 0; k < n; k++) {
    s->ended += s->list[k].status != MBG_ERROR_INTERRUPTED && s->list[k].reason != MBG_OPTIMIZE_INTERRUPTED;
  }
  /* the best one again, from its record; when none ended well the first, for its message */
  o->place = s->best >= 0 ? s->best : 0;
  o->restart = s->file = file_of(stem, o->place);
  o->resume = true;
  free(stem);
  return lost < 0 ? CLI_FAILED : CLI_DONE;
}

void cli_optimize_starts_end(cli_starts *s) {
  if (s->folder) {
    remove_folder(s->folder);
  }
  free(s->folder);
  free(s->file);
  free(s->list);
}
