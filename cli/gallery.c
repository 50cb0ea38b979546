#include "gallery.h"

#include "text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool exists(const char *path) {
  struct stat s;
  return stat(path, &s) == 0;
}

/* ---------------------------------------------------------------------- where it is */

/* PREFIX/share/mbgrad/gallery for the program PREFIX/bin/mbgrad; NULL when not known */
static char *beside_program(void) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length <= 0) {
    return NULL;
  }
  path[length] = 0;
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(path, '/');
    if (!slash) {
      return NULL;
    }
    *slash = 0;
  }
  return cli_format("%s/share/mbgrad/gallery", path);
}

char *cli_gallery_folder(void) {
  const char *own = getenv("MBGRAD_GALLERY");
  if (own && own[0]) {
    return cli_copy(own);
  }
  char *candidates[] = {beside_program(), cli_copy(MBG_GALLERY_DIR), cli_copy(MBG_GALLERY_INSTALL_DIR)};
  char *found = NULL;
  for (int i = 0; i < 3; i++) {
    if (!found && candidates[i] && is_folder(candidates[i])) {
      found = candidates[i];
    } else {
      free(candidates[i]);
    }
  }
  return found;
}

/* ---------------------------------------------------------------------- list of models */

char *cli_gallery_find(const char *name) {
  char *folder = cli_gallery_folder(), *path = NULL;
  if (folder && name[0] && name[0] != '.' && !strchr(name, '/')) {
    char *file = cli_format("%s/%s/model.json", folder, name);
    path = exists(file) ? cli_format("%s/%s", folder, name) : NULL;
    free(file);
  }
  free(folder);
  return path;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

int cli_gallery_names(char ***names) {
  char *folder = cli_gallery_folder();
  DIR *dir = folder ? opendir(folder) : NULL;
  int count = 0;
  *names = NULL;
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    char *path = cli_gallery_find(entry->d_name);
    if (path) {
      *names = cli_resize(*names, (size_t)count + 1, sizeof(**names));
      (*names)[count++] = cli_copy(entry->d_name);
      free(path);
    }
  }
  if (dir) {
    closedir(dir);
  }
  free(folder);
  if (count > 0) {
    qsort(*names, (size_t)count, sizeof(**names), by_name);
  }
  return count;
}

void cli_gallery_names_destroy(char **names, int count) {
  for (int i = 0; i < count; i++) {
    free(names[i]);
  }
  free(names);
}

char *cli_gallery_nearest(const char *name) {
  char **names;
  const int count = cli_gallery_names(&names);
  const char *near = cli_nearest(name, (const char *const *)names, count);
  char *copy = near ? cli_copy(near) : NULL;
  cli_gallery_names_destroy(names, count);
  return copy;
}

/* ---------------------------------------------------------------------- MODEL */

static char *in_gallery(const char *model) {
  char *folder = cli_gallery_find(model), *path = NULL;
  if (folder) {
    path = cli_format("%s/model.json", folder);
    free(folder);
    return path;
  }
  char *near = cli_gallery_nearest(model);
  if (near) {
    (void)cli_bad_input("no model '%s': neither a file nor a folder nor in the gallery; did you mean '%s'?", model,
                        near);
  } else {
    (void)cli_bad_input("no model '%s': neither a file nor a folder nor in the gallery (mbgrad list)", model);
  }
  free(near);
  return NULL;
}

char *cli_model_path(const char *model) {
  if (!exists(model)) {
    return in_gallery(model);
  }
  if (!is_folder(model)) {
    return cli_copy(model);
  }
  char *path = cli_format("%s%smodel.json", model, model[strlen(model) - 1] == '/' ? "" : "/");
  if (exists(path)) {
    return path;
  }
  (void)cli_bad_input("the folder '%s' holds no model.json", model);
  free(path);
  return NULL;
}
