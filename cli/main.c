/* mbgrad: the program. Each command is a file cmd_NAME.c with a table of options. */
#include "cli.h"
#include "ranks.h"
#include "text.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

extern const cli_command cli_cmd_linearize, cli_cmd_modes, cli_cmd_simulate, cli_cmd_gradient, cli_cmd_check,
    cli_cmd_compare, cli_cmd_identify, cli_cmd_control, cli_cmd_optimize, cli_cmd_sweep, cli_cmd_merge,
    cli_cmd_uncertainty, cli_cmd_report, cli_cmd_view, cli_cmd_list, cli_cmd_new, cli_cmd_import, cli_cmd_export,
    cli_cmd_help, cli_cmd_version, cli_cmd_doctor, cli_cmd_completion, cli_cmd_schema;

const cli_command *const cli_commands[] = {
    &cli_cmd_check,      &cli_cmd_simulate,    &cli_cmd_view,     &cli_cmd_report,
    &cli_cmd_modes,      &cli_cmd_linearize,   &cli_cmd_gradient, &cli_cmd_compare,
    &cli_cmd_identify,   &cli_cmd_control,     &cli_cmd_optimize, &cli_cmd_sweep,
    &cli_cmd_merge,      &cli_cmd_uncertainty, &cli_cmd_list,     &cli_cmd_new,
    &cli_cmd_import,     &cli_cmd_export,      &cli_cmd_schema,   &cli_cmd_doctor,
    &cli_cmd_completion, &cli_cmd_help,        &cli_cmd_version,  NULL,
};

const cli_command *cli_command_find(const char *name) {
  for (int i = 0; cli_commands[i]; i++) {
    if (!strcmp(cli_commands[i]->name, name)) {
      return cli_commands[i];
    }
  }
  return NULL;
}

const char *cli_command_hint(char *buffer, size_t size, const char *name) {
  const char *names[64];
  int count = 0;
  while (cli_commands[count] && count < 64) {
    names[count] = cli_commands[count]->name;
    count++;
  }
  const char *near = cli_nearest(name, names, count);
  snprintf(buffer, size, near ? "; did you mean '%s'?" : " (mbgrad help lists the commands)", near);
  return buffer;
}

static int run_command(const cli_command *command, int argc, char **argv) {
  cli_args args;
  int status = cli_args_parse(&args, command, argc, argv);
  if (status == CLI_DONE) {
    if (args.help) {
      cli_help_command(command);
    } else if (cli_ranks_count() > 1 && !command->ranks) {
      status =
          cli_bad_input("ranks of mpirun do not share the work of '%s': call mbgrad without mpirun", command->name);
    } else {
      status = command->run(&args);
    }
  }
  cli_args_destroy(&args);
  return status;
}

static int run(int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : NULL;
  if (!word) {
    cli_help_program();
    return CLI_BAD_INPUT;
  }
  if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
    word = "help";
  } else if (!strcmp(word, "--version")) {
    word = "version";
  }
  const cli_command *command = cli_command_find(word);
  if (!command) {
    char hint[128];
    return cli_bad_input("unknown %s '%s'%s", word[0] == '-' ? "option" : "command", word,
                         cli_command_hint(hint, sizeof(hint), word));
  }
  return run_command(command, argc - 2, argv + 2);
}

/* The build chooses a BLAS without threads. Where the loader brings another one, it gets one thread: results do not
   depend on the environment, and small factorizations do not wait for threads. */
static void use_one_thread(void) {
  void *program = dlopen(NULL, RTLD_LAZY);
  void (*set)(int) = NULL;
  if (program) {
    *(void **)&set = dlsym(program, "openblas_set_num_threads");
  }
  if (set) {
    set(1);
  }
}

/* a closed pipe and a limit of file sizes become errors of the write, which names them */
static void ignore_signals(void) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

/* Large blocks go back to the system when they are released, and new ones come untouched: what a large model takes but
   never writes needs no memory. The preset of glibc keeps blocks of up to 32 MB once one of that size was released. */
static void return_blocks(void) {
#ifdef __GLIBC__
  const int large = 1 << 17;
  mallopt(M_MMAP_THRESHOLD, large);
  mallopt(M_TRIM_THRESHOLD, 4 * large);
#endif
}

int main(int argc, char **argv) {
  return_blocks();
  use_one_thread();
  ignore_signals();
  cli_ranks_init(&argc, &argv);
  const int status = run(argc, argv);
  cli_ranks_end();
  /* a failed write is a failure of the program */
  errno = 0;
  if (fflush(stdout) != 0 || ferror(stdout)) {
    /* a write that failed earlier fails again for the same reason */
    const bool again = errno != 0 || write(STDOUT_FILENO, "\n", 1) < 0;
    const char *why = again ? strerror(errno) : "a part is missing";
    return status != CLI_DONE ? status : cli_failed("standard output could not be written: %s", why);
  }
  return status;
}
