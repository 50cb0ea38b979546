/* What pictures show on links: where its meshes are, and "shape" of the model file. */
#define _XOPEN_SOURCE 700

#include "import/robot.h"
#include "io/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------- files of meshes */

enum { PATH = 4096 };

/* the whole path of a file that is there, else NULL */
static const char *whole_path(mbg__robot *robot, const char *path) {
  char *full = realpath(path, NULL);
  const char *out = NULL;
  if (full && access(full, R_OK) == 0) {
    out = mbg__arena_text(robot->arena, full, strlen(full));
  }
  free(full);
  return out;
}

/* "package://NAME/rest", "model://NAME/rest": NAME is a folder above the file, or beside one of them */
static const char *package_path(mbg__robot *robot, const char *file, const char *name) {
  char folder[PATH], path[2 * PATH];
  const char *slash_at = strchr(name, '/'), *rest = slash_at ? slash_at : name + strlen(name);
  const char *own = whole_path(robot, file), *found = NULL;
  if (!own || strlen(own) >= sizeof(folder) || strlen(name) >= sizeof(folder)) {
    return NULL;
  }
  const size_t length = (size_t)(rest - name);
  (void)snprintf(folder, sizeof(folder), "%s", own);
  for (char *slash = strrchr(folder, '/'); slash && !found; slash = strrchr(folder, '/')) {
    *slash = 0;
    const char *last = strrchr(folder, '/');
    if (last && strlen(last + 1) == length && !strncmp(last + 1, name, length)) {
      (void)snprintf(path, sizeof(path), "%s%s", folder, rest);
      found = whole_path(robot, path);
    }
    if (!found) {
      (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
      found = whole_path(robot, path);
    }
  }
  return found;
}

const char *mbg__robot_path(mbg__robot *robot, const char *file, const char *name) {
  static const char *const packages[] = {"package://", "model://"};
  for (int i = 0; i < MBG_COUNT(packages); i++) {
    if (!strncmp(name, packages[i], strlen(packages[i]))) {
      return package_path(robot, file, name + strlen(packages[i]));
    }
  }
  if (!strncmp(name, "file://", 7)) {
    return whole_path(robot, name + 7);
  }
  char path[2 * PATH];
  const char *slash = strrchr(file, '/');
  if (strlen(file) >= PATH || strlen(name) >= PATH) {
    return NULL;
  }
  (void)snprintf(path, sizeof(path), "%.*s%s", name[0] == '/' || !slash ? 0 : (int)(slash - file) + 1, file, name);
  return whole_path(robot, path);
}

const char *mbg__robot_mesh_path(mbg__robot *robot, const char *name) {
  return mbg__robot_path(robot, robot->file, name);
}

/* ---------------------------------------------------------------------- adding */

static bool is_drawn(mbg__robot *robot, const mbg__xml *at, mbg__robot_figure *f) {
  static const int count[MBG__ROBOT_FORMS] = {3, 2, 1, 2, 3};
  if (f->form == MBG__ROBOT_FORMS) {
    mbg__report_add(robot->report, at, "left out",
                    "<%s>: shapes other than box, cylinder, sphere, capsule and mesh, or with a frame of their own",
                    at->name);
    return false;
  }
  for (int i = 0; i < count[f->form]; i++) {
    const double x = f->form == MBG__ROBOT_MESH ? fabs(f->size[i]) : f->size[i];
    if (!(x > 0) || !(x <= 1e9)) {
      mbg__report_add(robot->report, at, "left out", "<%s>: a shape whose size is no positive number", at->name);
      return false;
    }
  }
  if (f->form != MBG__ROBOT_MESH) {
    return true;
  }
  if (!f->file || !mbg__mesh_is_file(f->file)) {
    mbg__report_add(robot->report, at, "left out", "<%s>: meshes of other formats than STL, OBJ, glTF", at->name);
    return false;
  }
  f->file = mbg__robot_mesh_path(robot, f->file);
  if (!f->file) {
    mbg__report_add(robot->report, at, "left out", "<%s>: meshes whose file is not there", at->name);
    return false;
  }
  mbg__report_add(robot->report, at, "note", "meshes stay where they are: the model names them by their whole paths");
  return true;
}

int mbg__robot_add_figure(mbg__robot *robot, const mbg__xml *at, const mbg__robot_figure *figure) {
  mbg__robot_figure f = *figure;
  if (!is_drawn(robot, at, &f)) {
    return MBG_OK;
  }
  void *list = mbg__robot_put(robot->ctx, robot->figures, &robot->nfigure, &robot->most_figures, sizeof(f), &f);
  if (!list) {
    return mbg__fail_memory(robot->ctx);
  }
  robot->figures = list;
  return MBG_OK;
}

/* ---------------------------------------------------------------------- writing */

void mbg__robot_write_frame(mbg__json_writer *w, const char *place, const mbg__frame *H) {
  static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double turned = 0;
  for (int i = 0; i < 9; i++) {
    turned = fmax(turned, fabs(H->R[i] - unit[i]));
  }
  if (v3_dot(H->x, H->x) > 0) {
    mbg__json_key(w, place);
    mbg__json_numbers(w, H->x, 3);
  }
  if (turned > 1e-15) {
    mbg__json_key(w, "rotate");
    mbg__json_begin_array(w);
    for (int i = 0; i < 3; i++) {
      mbg__json_numbers(w, H->R + 3 * i, 3);
    }
    mbg__json_end_array(w);
  }
}

static void write_string(mbg__json_writer *w, const char *key, const char *value) {
  mbg__json_key(w, key);
  mbg__json_string(w, value);
}

static void write_number(mbg__json_writer *w, const char *key, double value) {
  mbg__json_key(w, key);
  mbg__json_number(w, value);
}

static void write_color(mbg__json_writer *w, const double rgba[4]) {
  unsigned color = 0;
  char text[16];
  if (!(rgba[0] >= 0)) {
    return;
  }
  for (int k = 0; k < 3; k++) {
    color = color << 8 | (unsigned)lround(255 * fmin(1, fmax(0, rgba[k])));
  }
  (void)snprintf(text, sizeof(text), "#%06x", color);
  write_string(w, "color", text);
  if (rgba[3] >= 0 && rgba[3] < 1) {
    write_number(w, "opacity", rgba[3]);
  }
}

static void write_figure(mbg__json_writer *w, const mbg__robot_figure *f) {
  static const char *const words[MBG__ROBOT_FORMS] = {"box", "cylinder", "sphere", "capsule", "mesh"};
  mbg__json_begin_object(w);
  write_string(w, "type", words[f->form]);
  if (f->form == MBG__ROBOT_MESH) {
    write_string(w, "file", f->file);
  }
  if (f->form == MBG__ROBOT_MESH || f->form == MBG__ROBOT_BOX) {
    mbg__json_key(w, f->form == MBG__ROBOT_BOX ? "size" : "scale");
    mbg__json_numbers(w, f->size, 3);
  } else {
    write_number(w, "radius", f->size[0]);
  }
  if (f->form == MBG__ROBOT_CYLINDER || f->form == MBG__ROBOT_CAPSULE) {
    write_number(w, "length", f->size[1]);
  }
  mbg__robot_write_frame(w, "at", &f->place);
  write_color(w, f->rgba);
  mbg__json_end_object(w);
}

void mbg__robot_write_figures(const mbg__robot *robot, mbg__json_writer *w, int link) {
  bool any = false;
  for (int i = 0; i < robot->nfigure; i++) {
    if (robot->figures[i].link != link) {
      continue;
    }
    if (!any) {
      mbg__json_key(w, "shape");
      mbg__json_begin_array(w);
      any = true;
    }
    write_figure(w, &robot->figures[i]);
  }
  if (any) {
    mbg__json_end_array(w);
  }
}
