/* mbgrad new: a copy of a gallery model, or a generated one */
#include "cli.h"
#include "files.h"
#include "gallery.h"
#include "generate.h"
#include "run_options.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------------- copying */

static int copy_file(const char *from, const char *to) {
  FILE *in = fopen(from, "rb"), *out = in ? cli_file_open(to) : NULL;
  int status = in && out ? CLI_DONE : in ? CLI_FAILED : cli_bad_input("cannot read '%s': %s", from, strerror(errno));
  char block[65536];
  for (size_t n; status == CLI_DONE && (n = fread(block, 1, sizeof(block), in)) > 0;) {
    (void)fwrite(block, 1, n, out);
  }
  if (status == CLI_DONE && ferror(in)) {
    status = cli_failed("cannot read '%s'", from);
    cli_file_drop(out);
  } else if (status == CLI_DONE) {
    status = cli_file_close(out, to);
  }
  if (in) {
    fclose(in);
  }
  return status;
}

/* a folder with all that is in it; counts the files */
static int copy_folder(const char *from, const char *to, int *files) {
  int status = cli_folder_make("", to);
  DIR *dir = status == CLI_DONE ? opendir(from) : NULL;
  if (status == CLI_DONE && !dir) {
    status = cli_bad_input("cannot read the folder '%s': %s", from, strerror(errno));
  }
  for (struct dirent *entry; status == CLI_DONE && (entry = readdir(dir));) {
    if (entry->d_name[0] == '.') {
      continue;
    }
    char *source = cli_format("%s/%s", from, entry->d_name), *target = cli_format("%s/%s", to, entry->d_name);
    struct stat s;
    if (stat(source, &s) == 0 && S_ISDIR(s.st_mode)) {
      status = copy_folder(source, target, files);
    } else {
      status = copy_file(source, target);
      *files += status == CLI_DONE;
    }
    free(source);
    free(target);
  }
  if (dir) {
    closedir(dir);
  }
  return status;
}

/* ---------------------------------------------------------------------- the command */

static int unknown_name(const char *name) {
  char *near = cli_gallery_nearest(name);
  const int status = near ? cli_bad_input("the gallery has no model '%s'; did you mean '%s'?", name, near)
                          : cli_bad_input("the gallery has no model '%s' (mbgrad list shows them)", name);
  free(near);
  return status;
}

static bool is_empty_or_absent(const char *path) {
  struct stat s;
  if (stat(path, &s) != 0) {
    return true;
  }
  DIR *dir = opendir(path);
  bool empty = dir != NULL;
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    empty = empty && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."));
  }
  if (dir) {
    closedir(dir);
  }
  return empty;
}

static int not_empty(const char *to) {
  return cli_bad_input("'%s' is there already and not empty; give another folder, or --force to overwrite its files",
                       to);
}

/* a model of a family: FOLDER/model.json */
static int generate(const cli_args *args, const char *name, const char *to) {
  cli_family_size size = {.bodies = 16, .parameters = 1};
  int status = cli_count(args, "bodies", &size.bodies);
  status = status == CLI_DONE ? cli_count(args, "flexible", &size.flexible) : status;
  status = status == CLI_DONE ? cli_count(args, "masses", &size.parameters) : status;
  if (status != CLI_DONE) {
    return status;
  }
  if (size.bodies > 1000000 || size.flexible > size.bodies || size.parameters > size.bodies) {
    return cli_bad_input(
        "a %s of %d bodies, %d of them flexible, with %d masses: at most a million bodies, and no more "
        "flexible ones or masses than bodies",
        name, size.bodies, size.flexible, size.parameters);
  }
  if (!cli_flag(args, "force") && !is_empty_or_absent(to)) {
    return not_empty(to);
  }
  status = cli_folder_make("", to);
  if (status != CLI_DONE) {
    return status;
  }
  char *path = cli_format("%s/model.json", to);
  FILE *out = cli_file_open(path);
  const int bodies = out ? cli_generate(name, &size, out) : 0;
  status = out ? cli_file_close(out, path) : CLI_FAILED;
  if (status == CLI_DONE) {
    printf("%s: %d %s\n\nNext:\n  mbgrad simulate %s\n", path, bodies, bodies == 1 ? "body" : "bodies", to);
  }
  free(path);
  return status;
}

/* options of generated models alone */
static int refuse_sizes(const cli_args *args) {
  static const char *const names[] = {"bodies", "flexible", "masses"};
  for (int i = 0; i < 3; i++) {
    if (cli_value(args, names[i], 0)) {
      return cli_bad_input("--%s is for generated models: chain, tree, ladder", names[i]);
    }
  }
  return CLI_DONE;
}

static int create(const cli_args *args) {
  const char *name = args->argument[0], *to = args->count > 1 ? args->argument[1] : name;
  if (cli_is_family(name)) {
    return generate(args, name, to);
  }
  if (refuse_sizes(args) != CLI_DONE) {
    return CLI_BAD_INPUT;
  }
  char *from = cli_gallery_find(name);
  int files = 0, status;
  if (!from) {
    return unknown_name(name);
  }
  if (!cli_flag(args, "force") && !is_empty_or_absent(to)) {
    free(from);
    return not_empty(to);
  }
  status = copy_folder(from, to, &files);
  free(from);
  if (status == CLI_DONE) {
    printf("%s: %d files\n\nNext: change %s/model.json, then\n  mbgrad check %s\n", to, files, to, to);
  }
  return status;
}

static const cli_option options[] = {
    {"force", NULL, false, "overwrite files that are there"},
    {"bodies", "N", false, "chain, tree, ladder: number of bodies (default 16)"},
    {"flexible", "M", false, "the first M of them are flexible"},
    {"masses", "P", false, "a vector of P masses as parameters, shared out to the bodies in turn (default 1)"},
};

extern const cli_command cli_cmd_new;

const cli_command cli_cmd_new = {
    .name = "new",
    .arguments = "NAME [FOLDER]",
    .summary = "copy a model of the gallery into a folder of your own, or generate one",
    .details = "Copies all files of the gallery model NAME into FOLDER (default: a folder called NAME). The names "
               "chain, tree\n"
               "and ladder stand for models of any size that are written into FOLDER.\n",
    .least = 1,
    .most = 2,
    .options = options,
    .noption = 4,
    .run = create,
};
