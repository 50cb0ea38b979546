/* Geometry: poses, bodies, markers. A part's world is moved by its pose P and mirrored by a reflection S, also one
   inside the other: a frame F of the part's file becomes P S F S, a frame in body axes S F S. */
#include "load/load.h"
#include "model/pose.h"

#include <string.h>

/* ---------------------------------------------------------------------- poses */

int mbg__pose_begin(mbg__loader *L, int *first) {
  *first = L->ops.count;
  return MBG_OK;
}

int mbg__pose_op_add(mbg__loader *L, mbg__pose_kind kind, int mode, int attr) {
  return MBG__ADD(L, L->ops, (mbg__pose_op){.kind = kind, .mode = mode, .attr = attr});
}

static void unknown_frame(mbg__frame *F) {
  for (int i = 0; i < 9; i++) {
    F->R[i] = NAN;
  }
  F->x[0] = F->x[1] = F->x[2] = NAN;
}

/* room for the derivatives of a pose by its own attributes: they are computed on the way and not kept */
static int pose_scratch(mbg__loader *L, int n) {
  if (n > L->pose_room) {
    L->pose_room = 2 * n;
    L->pose_dep = MBG_TAKE(&L->temp, int, L->pose_room);
    L->pose_omega = mbg__arena_take(&L->temp, (size_t)L->pose_room, sizeof(*L->pose_omega));
  }
  return mbg__arena_check(L->ctx, &L->temp);
}

/* the frame at one set of parameters */
static int place(mbg__item *item, const mbg__pose *pose, int set) {
  mbg__loader *L = item->L;
  mbg__placed *out = MBG__PUSH(L, L->placed[set]);
  if (!out || pose_scratch(L, pose->ndep) < 0) {
    return mbg__fail_memory(L->ctx);
  }
  out->dep = L->pose_dep;
  out->omega = L->pose_omega;
  const mbg__pose_op *ops = L->ops.at ? L->ops.at + pose->first : NULL;
  int where = 0;
  const bool done = mbg__pose_eval(ops, pose->count, L->values[set].at, L->placed[set].at, out, &where);
  out->ndep = 0;
  if (done) {
    return MBG_OK;
  }
  unknown_frame(&out->h);
  if (set == 0 && !item->bad) {
    const mbg__attribute *a = &L->attributes.at[ops[where].attr];
    const mbg__where at = mbg__attribute_where(a);
    return mbg__item_filed(item, mbg__fail_at(L->ctx, MBG_ERROR_INPUT, &at, 0,
                                              "a direction has length zero, or two directions are parallel"));
  }
  return MBG_OK;
}

int mbg__pose_end(mbg__item *item, int first, int *out) {
  mbg__loader *L = item->L;
  mbg__pose *pose = MBG__PUSH(L, L->poses);
  if (!pose) {
    return mbg__fail_memory(L->ctx);
  }
  pose->first = first;
  pose->count = L->ops.count - first;
  pose->ndep = mbg__pose_deps(L->ops.at ? L->ops.at + first : NULL, pose->count, L->poses.at);
  *out = L->poses.count - 1;
  const int err = place(item, pose, 0);
  return err < 0 ? err : place(item, pose, 1);
}

int mbg__pose_empty(mbg__loader *L, int *pose) {
  if (L->empty_pose < 0) {
    mbg__item item = {.L = L};
    const int err = mbg__pose_end(&item, L->ops.count, &L->empty_pose);
    if (err < 0) {
      return err;
    }
  }
  *pose = L->empty_pose;
  return MBG_OK;
}

int mbg__pose_enter(mbg__loader *L, const mbg__source *source) {
  int err = MBG_OK;
  if (!source->outer) {
    return MBG_OK;
  }
  MBG_TRY(mbg__pose_enter(L, source->outer));
  if (source->pose >= 0) {
    MBG_TRY(mbg__pose_op_add(L, MBG__POSE_OF, 0, source->pose));
  }
  if (source->mirror >= 0) {
    MBG_TRY(mbg__pose_op_add(L, MBG__POSE_MIRROR, source->mirror, -1));
  }
done:
  return err;
}

int mbg__pose_enter_local(mbg__loader *L, const mbg__source *source) {
  int err = MBG_OK;
  for (; source->outer; source = source->outer) {
    if (source->mirror >= 0) {
      MBG_TRY(mbg__pose_op_add(L, MBG__POSE_MIRROR, source->mirror, -1));
    }
  }
done:
  return err;
}

int mbg__pose_leave(mbg__loader *L, const mbg__source *source) {
  int err = MBG_OK;
  for (; source->outer; source = source->outer) {
    if (source->mirror >= 0) {
      MBG_TRY(mbg__pose_op_add(L, MBG__POSE_UNMIRROR, source->mirror, -1));
    }
  }
done:
  return err;
}

int mbg__pose_align(mbg__loader *L, int axis, int direction) {
  const double d[3] = {mbg__value(L, direction), mbg__value(L, direction + 1), mbg__value(L, direction + 2)};
  return mbg__pose_op_add(L, MBG__POSE_ALIGN, axis + 3 * mbg__pose_align_branch(d), direction);
}

/* ---------------------------------------------------------------------- parts */

static int part_pose(mbg__loader *L, mbg__source *source) {
  int err = MBG_OK, first, at;
  mbg__item item;
  char owner[MBG__HINT_SIZE];
  const mbg__json *part = source->part;
  mbg__format(owner, sizeof(owner), "part '%s'", source->name);
  MBG_TRY(mbg__item_make(L, source->outer, part, owner, &item));
  MBG_TRY(mbg__item_vector(&item, mbg__json_member(part, "at"), "at", "m", 0, NULL, &at));
  MBG_TRY(mbg__pose_begin(L, &first));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_TRANSLATE, 0, at));
  MBG_TRY(mbg__item_rotate(&item, mbg__json_member(part, "rotate"), "rotate"));
  MBG_TRY(mbg__pose_end(&item, first, &source->pose));
  MBG_TRY(mbg__item_choice(&item, mbg__json_member(part, "mirror"), "mirror", "x y z", &source->mirror));

  /* signs of the local axes, and the place of the part's world in the world */
  for (int i = 0; i < 3; i++) {
    source->sign[i] = source->outer->sign[i] * (i == source->mirror ? -1 : 1);
  }
  source->handed = source->sign[0] * source->sign[1] * source->sign[2];
  MBG_TRY(mbg__pose_begin(L, &first));
  MBG_TRY(mbg__pose_enter(L, source));
  MBG_TRY(mbg__pose_leave(L, source));
  MBG_TRY(mbg__pose_end(&item, first, &source->frame));
done:
  return err;
}

int mbg__load_part_poses(mbg__loader *L) {
  int err = MBG_OK;
  for (int i = 0; i < L->sources.count; i++) {
    if (L->sources.at[i]->outer) {
      MBG_TRY(part_pose(L, L->sources.at[i]));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- markers */

int mbg__marker_add(mbg__loader *L, const char *name, int body, int pose, const mbg__where *where, int *marker) {
  const int err = MBG__ADD(L, L->markers, (mbg__marker){name, body, pose, -1, *where});
  *marker = L->markers.count - 1;
  return err;
}

/* the ground's frame as a file sees it */
static int ground_marker(mbg__item *item, int *marker) {
  mbg__loader *L = item->L;
  mbg__source *source = item->source;
  int err = MBG_OK, pose = source->frame;
  if (source->ground < 0) {
    const mbg__where where = {source->file, 1, 1, NULL};
    if (pose < 0) {
      MBG_TRY(mbg__pose_empty(L, &pose));
    }
    MBG_TRY(mbg__marker_add(L, NULL, -1, pose, &where, &source->ground));
  }
  *marker = source->ground;
done:
  return err;
}

/* the body's own frame */
int mbg__body_marker(mbg__loader *L, int body, int *marker) {
  int err = MBG_OK, pose;
  if (L->body_marker.at[body] < 0) {
    MBG_TRY(mbg__pose_empty(L, &pose));
    MBG_TRY(mbg__marker_add(L, NULL, body, pose, &L->bodies.at[body].where, &L->body_marker.at[body]));
  }
  *marker = L->body_marker.at[body];
done:
  return err;
}

/* the body or marker of that name; NULL after an error or when it is bad */
static int find_frame(mbg__item *item, const mbg__json *json, const char *label, bool bodies_only, mbg__symbol **out,
                      bool *ground) {
  const char *name = NULL;
  char hint[MBG__HINT_SIZE];
  *out = NULL;
  *ground = false;
  const int err = mbg__item_text(item, json, label, &name);
  if (err < 0 || !name) {
    return err;
  }
  *ground = strcmp(name, "ground") == 0;
  if (*ground) {
    return MBG_OK;
  }
  mbg__symbol *s = mbg__name_find(item->L, item->source, MBG__NAME_BODY, name);
  if (!s && mbg__name_lost(item->L, item->source, name)) {
    item->bad = true;
    return MBG_OK;
  }
  if (s && bodies_only && s->kind == MBG__NAME_MARKER) {
    return mbg__item_bad(item, json, "%s: '%s' is a marker; expected a body or 'ground'", label, name);
  }
  if (!s) {
    const unsigned kinds = 1u << MBG__NAME_BODY | (bodies_only ? 0u : 1u << MBG__NAME_MARKER);
    return mbg__item_bad(item, json, "unknown %s '%s'%s", bodies_only ? "body" : "marker or body", name,
                         mbg__hint(hint, mbg__name_nearest(item->L, item->source, kinds, name)));
  }
  if (s->bad) {
    item->bad = true;
    return MBG_OK;
  }
  *out = s;
  return MBG_OK;
}

int mbg__item_marker(mbg__item *item, const mbg__json *json, const char *label, int *marker) {
  mbg__symbol *s;
  bool ground;
  *marker = -1;
  const int err = find_frame(item, json, label, false, &s, &ground);
  if (err < 0 || (!s && !ground)) {
    return err;
  }
  if (ground) {
    return ground_marker(item, marker);
  }
  if (s->kind == MBG__NAME_BODY) {
    return mbg__body_marker(item->L, s->index, marker);
  }
  *marker = s->index;
  return MBG_OK;
}

int mbg__item_body(mbg__item *item, const mbg__json *json, const char *label, int *body) {
  mbg__symbol *s;
  bool ground;
  const int err = find_frame(item, json, label, true, &s, &ground);
  *body = ground ? -1 : s ? s->index : -2;
  return err;
}

static int load_marker(mbg__item *item, mbg__symbol *symbol) {
  int err = MBG_OK, body = -2, in = 0, at, first, pose, node = -1;
  static const mbg__file_object keys[] = {MBG__KEYS_MARKER};
  mbg__loader *L = item->L;
  bool yes;
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(item, item->json, keys, 1, NULL, 0));
  if (mbg__json_member(item->json, "on")) {
    MBG_TRY(mbg__item_body(item, mbg__json_member(item->json, "on"), "on", &body));
  }
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "in"), "in", "body world", &in));
  MBG_TRY(mbg__item_vector(item, mbg__json_member(item->json, "at"), "at", "m", 0, NULL, &at));
  MBG_TRY(mbg__item_modal_node(item, body, &node, &at));
  MBG_TRY(mbg__pose_begin(L, &first));
  const bool local = in == 0 && body >= 0;
  if (!local && body >= 0) {
    MBG_TRY(mbg__pose_op_add(L, MBG__POSE_INVERSE_OF, 0, L->bodies.at[body].design));
  }
  MBG_TRY(local ? mbg__pose_enter_local(L, item->source) : mbg__pose_enter(L, item->source));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_TRANSLATE, 0, at));
  MBG_TRY(mbg__item_rotate(item, mbg__json_member(item->json, "rotate"), "rotate"));
  MBG_TRY(mbg__pose_leave(L, item->source));
  MBG_TRY(mbg__pose_end(item, first, &pose));
  const mbg__where where = mbg__item_where_key(item, item->json);
  MBG_TRY(mbg__marker_add(L, item->name, body, pose, &where, &symbol->index));
  L->markers.at[symbol->index].node = node;
done:
  return err;
}

int mbg__load_markers(mbg__loader *L) { return mbg__load_each(L, MBG__NAME_MARKER, load_marker); }
