/* Between two markers: the ends of joints and forces, pairs, coordinates. */
#include "load/load.h"
#include "load/load_map.h"

#include <string.h>

/* ---------------------------------------------------------------------- pairs and coordinates */

int mbg__pair_add(mbg__loader *L, int A, int B, int *pair) {
  const long long key = (long long)A << 32 | (unsigned)B;
  *pair = mbg__map_find(L->pair_map, key);
  if (*pair >= 0) {
    return MBG_OK;
  }
  const int err = MBG__ADD(L, L->pairs, (mbg__pair){A, B});
  *pair = L->pairs.count - 1;
  return err < 0 ? err : mbg__map_set(L, &L->pair_map, key, *pair);
}

int mbg__item_world_axes(mbg__item *item, int pair, bool old) {
  const mbg__json *json = mbg__json_member(item->json, "in");
  const mbg__loader *L = item->L;
  if (item->bad || !json || json->kind != MBG__JSON_STRING || strcmp(json->text, "world") != 0) {
    return MBG_OK;
  }
  const mbg__marker *A = &L->markers.at[L->pairs.at[pair].A];
  bool same = A->body < 0;
  for (int i = 0; same && i < 18; i++) {
    const int set = i / 9, frame = item->source->frame;
    const double axes = frame >= 0 ? re(L->placed[set].at[frame].h.R[i % 9]) : i % 9 % 4 == 0;
    same = fabs(re(L->placed[set].at[A->pose].h.R[i % 9]) - axes) <= 1e-12;
  }
  if (!same && old) {
    mbg__item_warn(item, json, "in: 'world' is an old word for the axes of the first of 'between'; write 'reference'");
    return MBG_OK;
  }
  return same ? MBG_OK
              : mbg__item_bad(item, json,
                              "in: 'world' is for axes relative to the ground; for the axes of 'relative_to' write "
                              "'reference'");
}

const mbg__coord_type *mbg__coord_find(const char *key) {
  int n;
  const mbg__coord_type *const *types = mbg__coord_types(&n);
  for (int i = 0; i < n; i++) {
    if (strcmp(types[i]->key, key) == 0) {
      return types[i];
    }
  }
  return NULL;
}

static int type_index(const mbg__coord_type *type) {
  int n;
  const mbg__coord_type *const *types = mbg__coord_types(&n);
  for (int i = 0; i < n; i++) {
    if (types[i] == type) {
      return i;
    }
  }
  return n;
}

/* the counter belongs to pair and type, whatever the sign */
static int turn_counter(mbg__loader *L, const mbg__coord_type *type, int pair, int *turn) {
  const long long key = (long long)pair << 16 | (long long)type_index(type) << 2 | 3;
  *turn = mbg__map_find(L->coord_map, key);
  if (*turn >= 0) {
    return MBG_OK;
  }
  *turn = L->model->nturn++;
  return mbg__map_set(L, &L->coord_map, key, *turn);
}

int mbg__coord_add(mbg__loader *L, const mbg__coord_type *type, int pair, double sign, bool turns, int *coord) {
  int err = MBG_OK;
  const long long key = (long long)pair << 16 | (long long)type_index(type) << 2 | (sign < 0);
  *coord = mbg__map_find(L->coord_map, key);
  if (*coord < 0) {
    MBG_TRY(MBG__ADD(L, L->coords, (mbg__coord){type, pair, sign, -1, NULL}));
    *coord = L->coords.count - 1;
    MBG_TRY(mbg__map_set(L, &L->coord_map, key, *coord));
  }
  if (turns && type->turns && L->coords.at[*coord].turn < 0) {
    MBG_TRY(turn_counter(L, type, pair, &L->coords.at[*coord].turn));
  }
done:
  return err;
}

static real coord_value(const mbg__coord_type *type, const mbg__frame *G) {
  real z[MBG__NZ] = {0};
  for (int i = 0; i < type->nentry; i++) {
    z[i] = type->entry[i] < MBG__X1 ? G->R[type->entry[i]] : G->x[type->entry[i] - MBG__X1];
  }
  if (!type->value) {
    return z[0];
  }
  mbg__jet3 jet = {0};
  type->value(z, 0, 0, &jet);
  return jet.F;
}

/* q(S G S) against q(G) at an arbitrary frame: in a mirrored part a coordinate keeps the value it has in the part's
   own file */
double mbg__coord_sign(const mbg__source *source, const mbg__coord_type *type) {
  const real h[6] = {0.7, 0.4, -0.6, 0.3, -0.5, 0.4};
  mbg__frame G, M;
  mbg__se3_exp(&G, h);
  for (int i = 0; i < 3; i++) {
    M.x[i] = source->sign[i] * G.x[i];
    for (int j = 0; j < 3; j++) {
      M.R[3 * i + j] = source->sign[i] * source->sign[j] * G.R[3 * i + j];
    }
  }
  const double q = re(coord_value(type, &G)), m = re(coord_value(type, &M));
  return fabs(m - q) < 1e-12 ? 1 : fabs(m + q) < 1e-12 ? -1 : 0;
}

/* "'angle' or 'slide'" */
static void list_coords(const mbg__joint_type *type, char *out, size_t size) {
  out[0] = 0;
  for (int i = 0; i < type->ncoord; i++) {
    const size_t used = strlen(out);
    mbg__format(out + used, size - used, "%s'%s'",
                i == 0                  ? ""
                : i + 1 == type->ncoord ? " and "
                                        : ", ",
                type->coords[i].name);
  }
}

static int joint_coord_index(mbg__item *item, const mbg__joint *joint, const mbg__json *json, int *index) {
  const char *name = NULL;
  char all[256];
  const mbg__joint_type *type = joint->type;
  *index = -1;
  list_coords(type, all, sizeof(all));
  if (type->ncoord == 0) {
    return mbg__item_bad(item, json ? json : item->json, "joint '%s' (%s) has no free coordinates", joint->name,
                         type->key);
  }
  if (!json) {
    *index = type->ncoord == 1 ? 0 : -1;
    return *index == 0
               ? MBG_OK
               : mbg__item_bad(item, item->json, "'coordinate' is missing: joint '%s' has %s", joint->name, all);
  }
  const int err = mbg__item_text(item, json, "coordinate", &name);
  if (err < 0 || !name) {
    return err;
  }
  for (int i = 0; i < type->ncoord; i++) {
    if (strcmp(type->coords[i].name, name) == 0) {
      *index = i;
      return MBG_OK;
    }
  }
  return mbg__item_bad(item, json, "'%s' is not a free coordinate of joint '%s' (%s); it has %s", name, joint->name,
                       type->key, all);
}

int mbg__item_joint_coord(mbg__item *item, mbg__symbol *symbol, const mbg__json *json, bool turns, int *coord) {
  mbg__loader *L = item->L;
  const mbg__joint *joint = &L->joints.at[symbol->index];
  int err = MBG_OK, index;
  *coord = -1;
  MBG_TRY(joint_coord_index(item, joint, json, &index));
  if (index < 0) {
    return MBG_OK;
  }
  const mbg__coord_type *type = mbg__coord_find(joint->type->coords[index].coord);
  assert(type);
  MBG_TRY(mbg__coord_add(L, type, joint->pair, mbg__coord_sign(symbol->source, type), turns, coord));
done:
  return err;
}

/* ---------------------------------------------------------------------- ends */

/* the keys of the ends in the file */
typedef struct {
  mbg__item *item;
  const mbg__ends_rule *rule;
  const mbg__json *name[2];
  const mbg__json *at, *axis, *axis2, *x, *points, *axes;
  bool world;                 /* points and axes */
  int body[2];                /* ways 2 and 3 */
  int point[2], direction[2]; /* attributes; direction -1: none */
} ends;

static int read_between(ends *e) {
  mbg__item *item = e->item;
  const mbg__json *json = mbg__json_member(item->json, "between"), *entry;
  if (!json) {
    return item->bad ? MBG_OK : mbg__item_missing(item, item->json, "between");
  }
  const int err = mbg__item_array(item, json, "between", 2, &entry);
  if (err < 0 || !entry) {
    return err;
  }
  e->name[0] = entry;
  e->name[1] = entry->next;
  return MBG_OK;
}

static int refuse_key(ends *e, const mbg__json *json, const char *needs) {
  return json ? mbg__item_bad_key(e->item, json, "'%s' applies only to %s", json->key, needs) : MBG_OK;
}

/* keys that do not go together */
static int check_together(ends *e) {
  int err = MBG_OK;
  const mbg__json *in = e->rule->has_in ? mbg__json_member(e->item->json, "in") : NULL;
  if (e->at && e->points) {
    MBG_TRY(mbg__item_bad_key(e->item, e->points, "give 'at' or 'points', not both"));
  }
  if (!e->at) {
    MBG_TRY(refuse_key(e, e->axis, "places given by 'at'; add \"at\": [x, y, z], a point of the world on the axis"));
    MBG_TRY(refuse_key(e, e->axis2, "places given by 'at'; add \"at\": [x, y, z], a point of the world"));
  }
  if (!e->at || !e->axis || e->rule->axes != MBG__AXES_Z) {
    MBG_TRY(refuse_key(e, e->x, "one axis z, given by 'at' and 'axis'"));
  }
  if (!e->points) {
    MBG_TRY(refuse_key(e, e->axes, "places given by 'points'"));
    MBG_TRY(refuse_key(e, in, "'points' and 'axes'"));
  }
  if (e->rule->axes == MBG__AXES_NONE) {
    MBG_TRY(refuse_key(e, e->axis, "joints with an axis"));
    MBG_TRY(refuse_key(e, e->axes, "joints with an axis"));
  }
  if (e->rule->axes == MBG__AXES_UNIVERSAL && e->axis && !e->axis2) {
    MBG_TRY(mbg__item_bad_key(e->item, e->axis, "'axis2' is missing"));
  }
done:
  return err;
}

static int check_ends(mbg__item *item, int A, int B) {
  const mbg__json *json = mbg__json_member(item->json, "between");
  if (A == -1 && B == -1) {
    return mbg__item_bad(item, json, "between: both ends are the ground");
  }
  if (A == B) {
    return mbg__item_bad(item, json, "between: both ends are on body '%s'", item->L->bodies.at[A].name);
  }
  return MBG_OK;
}

/* the ends may lack an axis when z of the plane is the only choice */
static bool planar_ends(const ends *e) {
  return e->rule->axes == MBG__AXES_Z && mbg__body_is_planar(e->item->L, e->body[0]) &&
         mbg__body_is_planar(e->item->L, e->body[1]);
}

static int check_axes_needed(ends *e) {
  const bool given = e->at ? e->axis != NULL : e->axes != NULL;
  if (given || !e->rule->axes_needed || planar_ends(e)) {
    return MBG_OK;
  }
  return mbg__item_bad_key(e->item, e->item->json, "'%s' is missing", e->at ? "axis" : "axes");
}

static int quarter_turn(mbg__item *item, int *index) {
  mbg__loader *L = item->L;
  if (L->quarter < 0) {
    mbg__item model;
    int err = mbg__item_make(L, L->sources.at[0], L->sources.at[0]->root, "model", &model);
    const mbg__formula formula = {.number = -M_PI / 2};
    const mbg__where where = {model.source->file, 1, 1, model.owner};
    err = err < 0 ? err : mbg__attribute_add(&model, &formula, "quarter turn", "rad", &where, &L->quarter);
    if (err < 0) {
      return err;
    }
  }
  *index = L->quarter;
  return MBG_OK;
}

/* x along axis, y in the half plane of axis and axis2: z and x of the rule for two vectors, turned to x and y */
static int universal_axes(ends *e, int axis) {
  int err = MBG_OK, quarter;
  mbg__loader *L = e->item->L;
  MBG_TRY(quarter_turn(e->item, &quarter));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_ZX, 0, axis));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_TURN, 1, quarter));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_TURN, 0, quarter));
done:
  return err;
}

/* way 2: both markers at one place of the world in the design configuration */
static int common_frame(ends *e, int *pose) {
  int err = MBG_OK, first, at, axis = -1, other;
  mbg__item *item = e->item;
  mbg__loader *L = item->L;
  const bool universal = e->rule->axes == MBG__AXES_UNIVERSAL;
  const mbg__json *second = universal ? e->axis2 : e->x;
  MBG_TRY(mbg__item_vector(item, e->at, "at", "m", 0, NULL, &at));
  if (e->axis) {
    MBG_TRY(mbg__item_direction(item, e->axis, "axis", &axis));
  }
  if (e->axis && second) {
    MBG_TRY(mbg__item_direction(item, second, second->key, &other));
    const double cosine = mbg__cosine(L, axis, other);
    if (!item->bad && universal && fabs(cosine) > 1e-6) {
      MBG_TRY(mbg__item_bad(item, second, "axis and axis2 must be perpendicular in the design configuration"));
    }
    if (!item->bad && fabs(cosine) > 1 - 1e-12) {
      MBG_TRY(mbg__item_bad(item, second, "axis and %s are parallel", second->key));
    }
  }
  MBG_TRY(mbg__pose_begin(L, &first));
  MBG_TRY(mbg__pose_enter(L, item->source));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_TRANSLATE, 0, at));
  if (axis >= 0 && universal && second) {
    MBG_TRY(universal_axes(e, axis));
  } else if (axis >= 0 && second) {
    MBG_TRY(mbg__pose_op_add(L, MBG__POSE_ZX, 0, axis));
  } else if (axis >= 0) {
    MBG_TRY(mbg__pose_align(L, 2, axis));
  }
  MBG_TRY(mbg__pose_leave(L, item->source));
  MBG_TRY(mbg__pose_end(item, first, pose));
done:
  return err;
}

/* marker of a body from a pose in the world of the design configuration */
static int world_marker(mbg__item *item, int body, int world, int *marker) {
  int err = MBG_OK, first, pose = world;
  mbg__loader *L = item->L;
  const mbg__where where = mbg__item_where_key(item, item->json);
  if (body >= 0) {
    MBG_TRY(mbg__pose_begin(L, &first));
    MBG_TRY(mbg__pose_op_add(L, MBG__POSE_INVERSE_OF, 0, L->bodies.at[body].design));
    MBG_TRY(mbg__pose_op_add(L, MBG__POSE_OF, 0, world));
    MBG_TRY(mbg__pose_end(item, first, &pose));
  }
  MBG_TRY(mbg__marker_add(L, NULL, body, pose, &where, marker));
done:
  return err;
}

/* way 3: attributes of the points and directions */
static int read_points(ends *e) {
  int err = MBG_OK;
  const mbg__json *point, *axis = NULL;
  char key[32];
  e->direction[0] = e->direction[1] = -1;
  MBG_TRY(mbg__item_array(e->item, e->points, "points", 2, &point));
  if (e->axes) {
    MBG_TRY(mbg__item_array(e->item, e->axes, "axes", 2, &axis));
  }
  for (int i = 0; i < 2 && point; i++) {
    mbg__format(key, sizeof(key), "points[%d]", i);
    MBG_TRY(mbg__item_vector(e->item, point, key, "m", 0, NULL, &e->point[i]));
    if (axis) {
      mbg__format(key, sizeof(key), "axes[%d]", i);
      MBG_TRY(mbg__item_direction(e->item, axis, key, &e->direction[i]));
      axis = axis->next;
    }
    point = point->next;
  }
done:
  return err;
}

/* opens the pose of side i: the frame that its point is given in */
static int side_begin(ends *e, int i, int *first) {
  int err = MBG_OK;
  mbg__loader *L = e->item->L;
  MBG_TRY(mbg__pose_begin(L, first));
  if (!e->world && e->body[i] >= 0) {
    MBG_TRY(mbg__pose_enter_local(L, e->item->source));
  } else {
    if (e->body[i] >= 0) {
      MBG_TRY(mbg__pose_op_add(L, MBG__POSE_INVERSE_OF, 0, L->bodies.at[e->body[i]].design));
    }
    MBG_TRY(mbg__pose_enter(L, e->item->source));
  }
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_TRANSLATE, 0, e->point[i]));
done:
  return err;
}

static int side_pose(ends *e, int i, int *pose) {
  int err = MBG_OK, first;
  mbg__loader *L = e->item->L;
  const int axis = e->rule->axes == MBG__AXES_UNIVERSAL ? i : 2;
  MBG_TRY(side_begin(e, i, &first));
  if (e->direction[i] >= 0) {
    MBG_TRY(mbg__pose_align(L, axis, e->direction[i]));
  }
  MBG_TRY(mbg__pose_leave(L, e->item->source));
  MBG_TRY(mbg__pose_end(e->item, first, pose));
done:
  return err;
}

/* direction of z of a marker pose in the design configuration, at one set of parameters */
static void design_z(const ends *e, int i, int pose, int set, double z[3]) {
  const mbg__loader *L = e->item->L;
  mbg__frame F = L->placed[set].at[pose].h;
  if (e->body[i] >= 0) {
    const mbg__frame *H = &L->placed[set].at[L->bodies.at[e->body[i]].design].h;
    frame_mul(&F, H, &L->placed[set].at[pose].h);
  }
  for (int k = 0; k < 3; k++) {
    z[k] = re(F.R[3 * k + 2]);
  }
}

/* Do both axes agree in the design configuration, for all parameters? */
static bool axes_agree(const ends *e, const int pose[2]) {
  double off = 0;
  for (int set = 0; set < 2; set++) {
    double a[3], b[3];
    design_z(e, 0, pose[0], set, a);
    design_z(e, 1, pose[1], set, b);
    for (int k = 0; k < 3; k++) {
      off = fabs(a[k] - b[k]) <= 1e-6 ? off : 1;
    }
  }
  return off == 0;
}

/* the rotation of a pose alone */
static int rotation_of(ends *e, int pose, int *out) {
  int err = MBG_OK, first;
  MBG_TRY(mbg__pose_begin(e->item->L, &first));
  MBG_TRY(mbg__pose_op_add(e->item->L, MBG__POSE_AT_OF, 0, pose));
  MBG_TRY(mbg__pose_end(e->item, first, out));
done:
  return err;
}

/* pose of B with its own origin and the axes that A has in the design configuration */
static int pose_like_A(ends *e, int pose_A, int *pose) {
  int err = MBG_OK, first, axes, origin, turned;
  mbg__loader *L = e->item->L;
  MBG_TRY(mbg__pose_begin(L, &first));
  if (e->body[1] >= 0) {
    MBG_TRY(mbg__pose_op_add(L, MBG__POSE_INVERSE_OF, 0, L->bodies.at[e->body[1]].design));
  }
  if (e->body[0] >= 0) {
    MBG_TRY(mbg__pose_op_add(L, MBG__POSE_OF, 0, L->bodies.at[e->body[0]].design));
  }
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_OF, 0, pose_A));
  MBG_TRY(mbg__pose_end(e->item, first, &axes));

  e->direction[1] = -1;
  MBG_TRY(side_pose(e, 1, &origin));
  MBG_TRY(rotation_of(e, origin, &turned));
  MBG_TRY(mbg__pose_begin(L, &first));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_OF, 0, origin));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_INVERSE_OF, 0, turned));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_AT_OF, 0, axes));
  MBG_TRY(mbg__pose_end(e->item, first, pose));
done:
  return err;
}

/* ---------------------------------------------------------------------- the three ways */

static int ends_by_name(ends *e, int marker[2]) {
  int err = MBG_OK;
  for (int i = 0; i < 2; i++) {
    MBG_TRY(mbg__item_marker(e->item, e->name[i], "between", &marker[i]));
  }
  if (marker[0] >= 0 && marker[1] >= 0) {
    const mbg__marker *m = e->item->L->markers.at;
    MBG_TRY(check_ends(e->item, m[marker[0]].body, m[marker[1]].body));
  }
done:
  return err;
}

static int ends_at(ends *e, int marker[2]) {
  int err = MBG_OK, world;
  MBG_TRY(common_frame(e, &world));
  for (int i = 0; i < 2; i++) {
    MBG_TRY(world_marker(e->item, e->body[i], world, &marker[i]));
  }
done:
  return err;
}

static int ends_by_points(ends *e, int marker[2]) {
  int err = MBG_OK, pose[2];
  const mbg__where where = mbg__item_where_key(e->item, e->item->json);
  MBG_TRY(read_points(e));
  if (e->item->bad) {
    return MBG_OK;
  }
  for (int i = 0; i < 2; i++) {
    MBG_TRY(side_pose(e, i, &pose[i]));
  }
  if (e->rule->roll && e->direction[1] >= 0 && axes_agree(e, pose)) {
    MBG_TRY(pose_like_A(e, pose[0], &pose[1]));
  }
  for (int i = 0; i < 2; i++) {
    MBG_TRY(mbg__marker_add(e->item->L, NULL, e->body[i], pose[i], &where, &marker[i]));
  }
done:
  return err;
}

int mbg__item_ends(mbg__item *item, const mbg__ends_rule *rule, int *pair) {
  int err = MBG_OK, in = 0, marker[2] = {-1, -1};
  const mbg__json *json = item->json;
  ends e = {.item = item,
            .rule = rule,
            .at = mbg__json_member(json, "at"),
            .axis = mbg__json_member(json, "axis"),
            .axis2 = mbg__json_member(json, "axis2"),
            .x = mbg__json_member(json, "x"),
            .points = mbg__json_member(json, "points"),
            .axes = mbg__json_member(json, "axes")};
  *pair = -1;
  MBG_TRY(read_between(&e));
  MBG_TRY(check_together(&e));
  if (rule->has_in) {
    MBG_TRY(mbg__item_choice(item, mbg__json_member(json, "in"), "in", "body world", &in));
  }
  e.world = in == 1;
  if (!e.name[0]) {
    return MBG_OK;
  }
  if (!e.at && !e.points) {
    MBG_TRY(ends_by_name(&e, marker));
  } else {
    for (int i = 0; i < 2; i++) {
      MBG_TRY(mbg__item_body(item, e.name[i], "between", &e.body[i]));
    }
    if (e.body[0] < -1 || e.body[1] < -1) {
      return MBG_OK;
    }
    MBG_TRY(check_ends(item, e.body[0], e.body[1]));
    MBG_TRY(check_axes_needed(&e));
    MBG_TRY(e.at ? ends_at(&e, marker) : ends_by_points(&e, marker));
  }
  if (!item->bad && marker[0] >= 0 && marker[1] >= 0) {
    MBG_TRY(mbg__pair_add(item->L, marker[0], marker[1], pair));
  }
done:
  return err;
}
