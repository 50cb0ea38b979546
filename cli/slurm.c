/* Scripts of a job array. A part that ends early, by a time limit or a lost node, goes on when it is queued again. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "slurm.h"

#include "files.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* options that the scripts set themselves, or that belong to the table */
static bool is_own(const char *name) {
  static const char *const own[] = {"slurm", "submit", "records", "shard", "resume", "jobs", "out", "plot"};
  for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
    if (!strcmp(own[i], name)) {
      return true;
    }
  }
  return false;
}

/* a word for the shell */
static void put_word(FILE *f, const char *word) {
  fputs(" '", f);
  for (; *word; word++) {
    fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, f);
  }
  fputc('\'', f);
}

static char *program_path(void) {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
  path[n > 0 ? n : 0] = 0;
  return cli_copy(n > 0 ? path : "mbgrad");
}

static void put_head(FILE *f, const char *name, const char *folder, const char *log, const char *here) {
  fprintf(f, "#!/bin/sh\n#SBATCH --job-name=%s\n#SBATCH --output=\"%s/%s\"\n#SBATCH --open-mode=append\n", name, folder,
          log);
  fputs("#SBATCH --requeue\n", f);
  fputs("cd", f);
  put_word(f, here);
  fputs(" || exit 1\n", f);
}

/* ---------------------------------------------------------------------- scripts */

typedef struct {
  const cli_args *args;
  const char *folder; /* absolute */
  const char *here, *program;
  int parts;
} scripts;

static int end_script(FILE *f, const char *path) { return f ? cli_file_close(f, path) : CLI_FAILED; }

static int write_part(const scripts *s) {
  char *path = cli_format("%s/part.sh", s->folder);
  FILE *f = cli_file_open(path);
  if (f) {
    put_head(f, "mbgrad-part", s->folder, "part-%a.log", s->here);
    fputs("exec", f);
    put_word(f, s->program);
    put_word(f, s->args->command->name);
    for (int i = 0; i < s->args->count; i++) {
      put_word(f, s->args->argument[i]);
    }
    for (int i = 0; i < s->args->ngiven; i++) {
      const cli_given *g = &s->args->given[i];
      if (!is_own(g->option->name)) {
        fprintf(f, " --%s", g->option->name);
        if (g->value) {
          put_word(f, g->value);
        }
      }
    }
    fputs(" --records", f);
    put_word(f, s->folder);
    fprintf(f, " --resume --shard \"$SLURM_ARRAY_TASK_ID/%d\" --jobs \"${SLURM_CPUS_PER_TASK:-1}\"\n", s->parts);
  }
  const int status = end_script(f, path);
  free(path);
  return status;
}

static int write_merge(const scripts *s) {
  char *path = cli_format("%s/merge.sh", s->folder), *table = cli_format("%s/table.csv", s->folder);
  const char *out = cli_value(s->args, "out", 0);
  FILE *f = cli_file_open(path);
  if (f) {
    put_head(f, "mbgrad-merge", s->folder, "merge.log", s->here);
    fputs("exec", f);
    put_word(f, s->program);
    fputs(" merge", f);
    put_word(f, s->folder);
    fputs(" --out", f);
    put_word(f, out && strcmp(out, "-") != 0 ? out : table);
    fputc('\n', f);
  }
  const int status = end_script(f, path);
  free(table);
  free(path);
  return status;
}

/* options of sbatch may follow: sh submit.sh --time=10:00 */
static int write_submit(const scripts *s) {
  char *path = cli_format("%s/submit.sh", s->folder);
  FILE *f = cli_file_open(path);
  if (f) {
    fprintf(f, "#!/bin/sh\nset -e\nfolder='%s'\n", s->folder); /* it has no quotes */
    fprintf(f, "parts=$(sbatch --parsable \"$@\" --array=1-%d \"$folder/part.sh\")\n", s->parts);
    fputs("merge=$(sbatch --parsable --dependency=\"afterany:${parts%%;*}\" \"$folder/merge.sh\")\n", f);
    fprintf(f, "echo \"job ${parts%%%%;*}: %d parts; job ${merge%%%%;*} merges them\"\n", s->parts);
  }
  const int status = end_script(f, path);
  free(path);
  return status;
}

/* ---------------------------------------------------------------------- the option */

static int submit(const char *folder) {
  char *command = cli_format("sh '%s/submit.sh'", folder);
  fflush(stdout);
  const int code = system(command);
  free(command);
  return code == 0 ? CLI_DONE
                   : cli_failed("sbatch refused the job (status %d)", WIFEXITED(code) ? WEXITSTATUS(code) : code);
}

static int write_scripts(const cli_args *args, const char *given, int parts) {
  char here[4096], absolute[4096];
  int status = cli_folder_make("--records: ", given);
  if (status != CLI_DONE) {
    return status;
  }
  if (!getcwd(here, sizeof(here)) || !realpath(given, absolute) || strchr(absolute, '\'')) {
    return cli_failed("'%s': its path cannot be used in a script", given);
  }
  char *program = program_path();
  const scripts s = {args, absolute, here, program, parts};
  status = write_part(&s);
  status = status == CLI_DONE ? write_merge(&s) : status;
  status = status == CLI_DONE ? write_submit(&s) : status;
  free(program);
  if (status == CLI_DONE && cli_flag(args, "submit")) {
    return submit(absolute);
  }
  if (status == CLI_DONE) {
    printf("sh %s/submit.sh submits %d parts and their merging; options of sbatch may follow\n", given, parts);
  }
  return status;
}

bool cli_slurm(const cli_args *args, const cli_record_options *record, int points, int *status) {
  int parts = 0;
  if (!cli_value(args, "slurm", 0)) {
    *status = cli_flag(args, "submit") ? cli_bad_input("--submit needs --slurm N") : CLI_DONE;
    return cli_flag(args, "submit");
  }
  *status = cli_count(args, "slurm", &parts);
  if (*status == CLI_DONE && !record->folder) {
    *status = cli_bad_input("--slurm needs --records FOLDER, which all machines see");
  } else if (*status == CLI_DONE && record->parts > 1) {
    *status = cli_bad_input("--slurm gives each part its --shard itself");
  } else if (*status == CLI_DONE && parts > points) {
    *status = cli_bad_input("--slurm: %d parts of %d points", parts, points);
  }
  *status = *status == CLI_DONE ? write_scripts(args, record->folder, parts) : *status;
  return true;
}
