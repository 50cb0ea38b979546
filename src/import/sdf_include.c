/* <include> of SDF: a file, or a folder whose model.config names the file. */
#define _XOPEN_SOURCE 700

#include "import/sdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { INCLUDE_DEPTH = 20, INCLUDES_MAX = 1000, INCLUDE_BYTES = 16000000, PATH = 4096 };

typedef struct {
  mbg__robot *robot;
  int count;
  size_t bytes;
} includes;

static bool is_folder(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* the file of a folder: model.config names one for each version of the format, and the newest counts */
static int file_in(includes *in, const mbg__xml *at, const char *folder, const char **out) {
  mbg__robot *robot = in->robot;
  char path[PATH + 300];
  const char *file = "model.sdf";
  mbg__xml *config = NULL;
  double newest = -1;
  int err = MBG_OK;
  if (strlen(folder) >= PATH) {
    return mbg__xml_fail(robot->ctx, at, "the path of its folder is too long");
  }
  (void)snprintf(path, sizeof(path), "%s/model.config", folder);
  struct stat s;
  if (stat(path, &s) == 0) {
    const char *kept = mbg__arena_text(robot->arena, path, strlen(path));
    MBG_TRY(kept ? mbg__xml_read_data(robot->ctx, robot->arena, kept, &config) : mbg__fail_memory(robot->ctx));
  }
  for (const mbg__xml *e = mbg__xml_child(config, "sdf"); e; e = mbg__xml_next(e)) {
    double version = 0;
    MBG_TRY(mbg__xml_number(robot->ctx, e, "version", &version));
    if (version > newest && *e->text) {
      newest = version;
      file = e->text;
    }
  }
  (void)snprintf(path, sizeof(path), "%s/%.250s", folder, file);
  *out = mbg__arena_text(robot->arena, path, strlen(path));
  err = *out ? MBG_OK : mbg__fail_memory(robot->ctx);
done:
  return err;
}

static int find_model(includes *in, const mbg__xml *at, int depth, mbg__xml **out) {
  mbg__robot *robot = in->robot;
  const char *uri = mbg__sdf_text(at, "uri"), *path = NULL;
  mbg__xml *root = NULL;
  int err = MBG_OK;
  if (!uri) {
    return mbg__xml_fail(robot->ctx, at, "<uri> is missing");
  }
  if (depth > INCLUDE_DEPTH || ++in->count > INCLUDES_MAX) {
    return mbg__xml_fail(robot->ctx, at, "files include each other more than %d deep, or more than %d of them",
                         INCLUDE_DEPTH, INCLUDES_MAX);
  }
  path = mbg__robot_path(robot, at->file, uri);
  if (!path) {
    return mbg__xml_fail(robot->ctx, at,
                         "there is no file or folder '%.200s': model:// is looked for in the folders above the file",
                         uri);
  }
  if (is_folder(path)) {
    MBG_TRY(file_in(in, at, path, &path));
  }
  MBG_TRY(mbg__xml_read_data(robot->ctx, robot->arena, path, &root));
  in->bytes += root->end;
  if (in->bytes > INCLUDE_BYTES) {
    err = mbg__xml_fail(robot->ctx, at, "included files have more than %d bytes together", INCLUDE_BYTES);
    goto done;
  }
  *out = root->child;
  while (*out && strcmp((*out)->name, "model") != 0) {
    *out = (*out)->next;
  }
  if (strcmp(root->name, "sdf") != 0 || !*out) {
    err = mbg__xml_fail(robot->ctx, at, "'%.200s' is no SDF file with a <model>", path);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- what <include> says of the model */

static int set_attribute(mbg__robot *robot, mbg__xml *e, const char *key, const char *value) {
  mbg__xml_attribute *own = MBG_TAKE(robot->arena, mbg__xml_attribute, 1);
  if (!own) {
    return mbg__fail_memory(robot->ctx);
  }
  *own = (mbg__xml_attribute){.key = key, .value = value, .next = e->attributes};
  e->attributes = own; /* the first of a name counts */
  return MBG_OK;
}

/* the child goes from <include> to the front of the model, where the first of a name counts */
static void take_child(mbg__xml *from, mbg__xml *to, const char *name) {
  for (mbg__xml **link = &from->child; *link; link = &(*link)->next) {
    if (!strcmp((*link)->name, name)) {
      mbg__xml *e = *link;
      *link = e->next;
      e->next = to->child;
      e->parent = to;
      to->child = e;
      return;
    }
  }
}

static int dress(mbg__robot *robot, mbg__xml *at, mbg__xml *model) {
  static const char *const known[] = {"uri", "name", "placement_frame"};
  const char *name = mbg__sdf_text(at, "name"), *placed = mbg__sdf_text(at, "placement_frame"),
             *merge = mbg__xml_value(at, "merge");
  int err = MBG_OK;
  if (name) {
    MBG_TRY(set_attribute(robot, model, "name", name));
  }
  if (placed) {
    MBG_TRY(set_attribute(robot, model, "placement_frame", placed));
  }
  if (merge) {
    MBG_TRY(set_attribute(robot, model, "merge", merge));
  }
  take_child(at, model, "pose");
  take_child(at, model, "static");
  for (const mbg__xml *e = at->child; e; e = e->next) {
    bool found = false;
    for (int i = 0; i < MBG_COUNT(known); i++) {
      found = found || !strcmp(e->name, known[i]);
    }
    if (!found) {
      mbg__report_add(robot->report, e, "left out", "<%s> in <include>", e->name);
    }
  }
done:
  return err;
}

static int include_in(includes *in, mbg__xml *parent, int depth) {
  int err = MBG_OK;
  for (mbg__xml **link = &parent->child; *link; link = &(*link)->next) {
    mbg__xml *at = *link, *model = NULL;
    const bool nested = !strcmp(at->name, "model") || !strcmp(at->name, "world");
    if (!strcmp(at->name, "include")) {
      MBG_TRY(find_model(in, at, depth, &model));
      MBG_TRY(dress(in->robot, at, model));
      model->next = at->next;
      model->parent = parent;
      *link = model;
      MBG_TRY(include_in(in, model, depth + 1));
    } else if (nested) {
      MBG_TRY(include_in(in, at, depth));
    }
  }
done:
  return err;
}

int mbg__sdf_include(mbg__robot *robot, mbg__xml *root) {
  includes in = {.robot = robot};
  return include_in(&in, root, 0);
}
