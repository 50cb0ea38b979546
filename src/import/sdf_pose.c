/* Names and poses of SDF: every element has a frame of its own, given relative to another one that has a name. */
#include "import/sdf.h"

#include <string.h>

const char *mbg__sdf_text(const mbg__xml *at, const char *name) {
  const mbg__xml *child = mbg__xml_child(at, name);
  return child && *child->text ? child->text : NULL;
}

const char *mbg__sdf_join(mbg__robot *robot, const char *prefix, const char *name) {
  const size_t n = strlen(prefix), m = strlen(name);
  char *out = mbg__arena_take(robot->arena, n + m + 1, 1);
  if (out) {
    memcpy(out, prefix, n);
    memcpy(out + n, name, m + 1);
  }
  return out;
}

/* ---------------------------------------------------------------------- poses */

int mbg__sdf_read_pose(mbg__robot *robot, const mbg__xml *pose, mbg__frame *out) {
  double values[6] = {0};
  frame_identity(out);
  if (!pose || !*pose->text) {
    return MBG_OK;
  }
  const int err = mbg__xml_numbers(robot->ctx, pose, "pose", pose->text, 6, 6, values, NULL);
  if (err == MBG_OK) {
    v3_copy(out->x, values);
    mbg__robot_rpy(out->R, values + 3);
  }
  return err;
}

static bool is_merged(const mbg__xml *e) {
  const char *merge = mbg__xml_value(e, "merge");
  return !strcmp(e->name, "model") && merge && (!strcmp(merge, "true") || !strcmp(merge, "1"));
}

/* a link, joint, frame or nested model of the model by its name, of n letters */
const mbg__xml *mbg__sdf_named(const mbg__xml *model, const char *name, size_t n) {
  static const char *const kinds[] = {"link", "joint", "frame", "model"};
  for (const mbg__xml *e = model->child; e; e = e->next) {
    for (int k = 0; k < MBG_COUNT(kinds); k++) {
      const char *own = mbg__xml_value(e, "name");
      if (!strcmp(e->name, kinds[k]) && own && strlen(own) == n && !strncmp(own, name, n)) {
        return e;
      }
    }
  }
  return NULL;
}

/* The nested model in which a name is to be looked for, and the rest of the name there: "arm::hand" in "arm", and a
   name of a model that is merged into this one. NULL: here. */
const mbg__xml *mbg__sdf_nested(const mbg__sdf_scope *s, const char *name, const char **rest) {
  const char *colons = strstr(name, "::");
  const mbg__xml *e = colons ? mbg__sdf_named(s->model, name, (size_t)(colons - name)) : NULL;
  *rest = name;
  if (e && !strcmp(e->name, "model")) {
    *rest = colons + 2;
    return e;
  }
  for (e = s->model->child; e; e = e->next) {
    if (is_merged(e) && mbg__sdf_named(e, name, strlen(name))) {
      return e;
    }
  }
  return NULL;
}

/* the mbg__sdf_scope of a nested model, without its place */
/* "::", or "_2::" of the second model of a name: some files have copies */
static void ending(const mbg__sdf_scope *s, const mbg__xml *model, const char *name, char out[20]) {
  int number = 1;
  for (const mbg__xml *e = mbg__xml_child(s->model, "model"); e && e != model; e = mbg__xml_next(e)) {
    const char *other = mbg__xml_value(e, "name");
    number += other && !strcmp(other, name);
  }
  mbg__format(out, 20, number > 1 ? "_%d::" : "::", number);
}

int mbg__sdf_enter(const mbg__sdf_scope *s, const mbg__xml *model, mbg__sdf_scope *out) {
  const char *name = mbg__xml_value(model, "name"), *with = NULL, *prefix = s->prefix;
  char end[20] = "";
  if (name && !is_merged(model)) {
    ending(s, model, name, end);
    with = mbg__sdf_join(s->robot, s->prefix, name);
    prefix = with ? mbg__sdf_join(s->robot, with, end) : NULL;
  }
  *out = (mbg__sdf_scope){.robot = s->robot, .model = model, .prefix = prefix, .fixed = s->fixed, .steps = s->steps};
  if (!name || !*name) {
    return mbg__xml_fail(s->robot->ctx, model, "the attribute 'name' is missing");
  }
  return prefix ? MBG_OK : mbg__fail_memory(s->robot->ctx);
}

/* The frame of a nested model in the frame of s: its pose is that of its placement_frame, where it has one. */
int mbg__sdf_model_frame(const mbg__sdf_scope *s, const mbg__xml *model, mbg__frame *out, int depth) {
  const char *placed = mbg__xml_value(model, "placement_frame");
  mbg__frame pose, own, back;
  mbg__sdf_scope inner;
  int err = MBG_OK;
  MBG_TRY(mbg__sdf_pose(s, model, NULL, &pose, depth));
  *out = pose;
  if (placed && *placed) {
    MBG_TRY(mbg__sdf_enter(s, model, &inner));
    MBG_TRY(mbg__sdf_frame(&inner, model, placed, &own, depth + 1));
    frame_inv(&back, &own);
    frame_mul(out, &pose, &back);
  }
done:
  return err;
}

/* the frame of that name in the model's frame */
int mbg__sdf_frame(const mbg__sdf_scope *s, const mbg__xml *at, const char *name, mbg__frame *out, int depth) {
  const char *rest;
  int err = MBG_OK;
  frame_identity(out);
  if (!strcmp(name, "__model__") || !strcmp(name, "world") || !s->model) {
    return MBG_OK;
  }
  if (depth > MBG__SDF_DEPTH_MAX || ++*s->steps > MBG__SDF_STEPS_MAX) {
    return mbg__xml_fail(s->robot->ctx, at, "its pose is relative to itself, or through more than %d frames",
                         MBG__SDF_DEPTH_MAX);
  }
  const mbg__xml *e = mbg__sdf_named(s->model, name, strlen(name)),
                 *nested = e ? NULL : mbg__sdf_nested(s, name, &rest);
  if (nested) {
    mbg__sdf_scope inner;
    mbg__frame model, own;
    MBG_TRY(mbg__sdf_enter(s, nested, &inner));
    MBG_TRY(mbg__sdf_model_frame(s, nested, &model, depth + 1));
    MBG_TRY(mbg__sdf_frame(&inner, at, rest, &own, depth + 1));
    frame_mul(out, &model, &own);
  } else if (!e) {
    err = mbg__xml_fail(s->robot->ctx, at, "there is no link, joint, frame or model '%s'", name);
  } else if (!strcmp(e->name, "model")) {
    err = mbg__sdf_model_frame(s, e, out, depth + 1);
  } else {
    const char *preset = !strcmp(e->name, "joint") ? mbg__sdf_text(e, "child") : mbg__xml_value(e, "attached_to");
    err = mbg__sdf_pose(s, e, preset, out, depth + 1);
  }
done:
  return err;
}

/* <pose relative_to="..."> of an element in the model's frame; without relative_to the preset frame counts */
int mbg__sdf_pose(const mbg__sdf_scope *s, const mbg__xml *element, const char *preset, mbg__frame *out, int depth) {
  const mbg__xml *pose = mbg__xml_child(element, "pose");
  const char *to = mbg__xml_value(pose, "relative_to");
  mbg__frame own, base;
  int err = MBG_OK;
  to = to && *to ? to : preset && *preset ? preset : "__model__";
  if (depth > MBG__SDF_DEPTH_MAX) {
    return mbg__xml_fail(s->robot->ctx, element, "its pose is relative to itself, or through more than %d frames",
                         MBG__SDF_DEPTH_MAX);
  }
  MBG_TRY(mbg__sdf_read_pose(s->robot, pose, &own));
  MBG_TRY(mbg__sdf_frame(s, element, to, &base, depth));
  frame_mul(out, &base, &own);
done:
  return err;
}
