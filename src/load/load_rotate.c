/* Rotations of the file: "rotate" of bodies, markers and parts. */
#include "load/load.h"

#include <string.h>

/* ["z", "phi"] */
static int rotate_step(mbg__item *item, const mbg__json *json, const char *label, int k) {
  int err = MBG_OK, axis = 0, angle;
  const mbg__json *entry;
  char name[64];
  mbg__format(name, sizeof(name), "%s[%d]", label, k);
  MBG_TRY(mbg__item_array(item, json, name, 2, &entry));
  if (!entry) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_choice(item, entry, "axis", "x y z", &axis));
  MBG_TRY(mbg__item_attribute(item, entry->next, name, "rad", 0, 1, &angle));
  MBG_TRY(mbg__pose_op_add(item->L, MBG__POSE_TURN, axis, angle));
done:
  return err;
}

static int rotate_axis(mbg__item *item, const mbg__json *json, const char *label) {
  int err = MBG_OK, first, angle;
  static const mbg__file_object keys[] = {MBG__KEYS_ROTATE_AXIS};
  char name[64];
  MBG_TRY(mbg__item_keys(item, json, keys, 1, NULL, 0));
  if (!mbg__json_member(json, "axis") || !mbg__json_member(json, "angle")) {
    return MBG_OK;
  }
  mbg__format(name, sizeof(name), "%s.axis", label);
  MBG_TRY(mbg__item_direction(item, mbg__json_member(json, "axis"), name, &first));
  mbg__format(name, sizeof(name), "%s.angle", label);
  MBG_TRY(mbg__item_attribute(item, mbg__json_member(json, "angle"), name, "rad", 0, 1, &angle));
  MBG_TRY(mbg__pose_op_add(item->L, MBG__POSE_AXIS_ANGLE, 0, first));
done:
  return err;
}

static int rotate_zx(mbg__item *item, const mbg__json *json, const char *label) {
  int err = MBG_OK, z, x;
  static const mbg__file_object keys[] = {MBG__KEYS_ROTATE_ZX};
  char name[64];
  const mbg__json *jz = mbg__json_member(json, "z"), *jx = mbg__json_member(json, "x");
  MBG_TRY(mbg__item_keys(item, json, keys, 1, NULL, 0));
  if (!jz) {
    return MBG_OK;
  }
  mbg__format(name, sizeof(name), "%s.z", label);
  MBG_TRY(mbg__item_direction(item, jz, name, &z));
  if (!jx) {
    return mbg__pose_align(item->L, 2, z);
  }
  mbg__format(name, sizeof(name), "%s.x", label);
  MBG_TRY(mbg__item_direction(item, jx, name, &x));
  if (!item->bad && fabs(mbg__cosine(item->L, z, x)) > 1 - 1e-12) {
    MBG_TRY(mbg__item_bad(item, jx, "%s: z and x are parallel", label));
  }
  MBG_TRY(mbg__pose_op_add(item->L, MBG__POSE_ZX, 0, z));
done:
  return err;
}

static int rotate_vector(mbg__item *item, const mbg__json *json, const char *label) {
  int err = MBG_OK, first;
  static const mbg__file_object keys[] = {MBG__KEYS_ROTATE_VECTOR};
  char name[64];
  mbg__format(name, sizeof(name), "%s.vector", label);
  MBG_TRY(mbg__item_keys(item, json, keys, 1, NULL, 0));
  MBG_TRY(mbg__item_vector(item, mbg__json_member(json, "vector"), name, "rad", 0, NULL, &first));
  MBG_TRY(mbg__pose_op_add(item->L, MBG__POSE_VECTOR, 0, first));
done:
  return err;
}

/* ---------------------------------------------------------------------- matrices */

static bool is_number(const mbg__json *json) {
  return json->kind == MBG__JSON_NUMBER || json->kind == MBG__JSON_STRING;
}

/* three rows of three numbers */
static bool is_matrix(const mbg__json *json) {
  bool rows = json->kind == MBG__JSON_ARRAY && json->count == 3;
  for (const mbg__json *row = rows ? json->child : NULL; row; row = row->next) {
    rows = rows && row->kind == MBG__JSON_ARRAY && row->count == 3;
  }
  return rows;
}

static const mbg__json *matrix_entry(const mbg__json *json, int i, int j) {
  const mbg__json *row = json->child;
  while (i-- > 0) {
    row = row->next;
  }
  const mbg__json *entry = row->child;
  while (j-- > 0) {
    entry = entry->next;
  }
  return entry;
}

static double determinant(double R[3][3]) {
  return R[0][0] * (R[1][1] * R[2][2] - R[1][2] * R[2][1]) - R[0][1] * (R[1][0] * R[2][2] - R[1][2] * R[2][0]) +
         R[0][2] * (R[1][0] * R[2][1] - R[1][1] * R[2][0]);
}

/* How far is R from a rotation? Largest entry of R^T R - 1. */
static double off_rotation(double R[3][3]) {
  double off = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      off = fmax(off, fabs(R[0][i] * R[0][j] + R[1][i] * R[1][j] + R[2][i] * R[2][j] - (i == j)));
    }
  }
  return off;
}

/* the matrix may be rounded to a few digits, but must stay a rotation whatever the parameters are */
static int check_matrix(mbg__item *item, const mbg__json *json, const char *label, double R[2][3][3]) {
  static const double rounding = 1e-3, change = 1e-5;
  const double off = off_rotation(R[0]);
  if (item->bad) {
    return MBG_OK;
  }
  if (off > rounding) {
    return mbg__item_bad(item, json,
                         "%s: the matrix is not a rotation: its columns must be perpendicular unit vectors, but R^T R "
                         "differs from 1 by %.2g",
                         label, off);
  }
  if (determinant(R[0]) < 0) {
    return mbg__item_bad(item, json, "%s: the matrix is a mirror image (its determinant is -1), not a rotation", label);
  }
  return off_rotation(R[1]) <= off + change
             ? MBG_OK
             : mbg__item_bad(item, json,
                             "%s: the matrix does not stay a rotation when parameters change; write all entries as "
                             "functions of an angle, or [[\"z\", \"angle\"], ...]",
                             label);
}

/* nine numbers: columns z and x are the attributes, column y is only checked */
static int rotate_matrix(mbg__item *item, const mbg__json *json, const char *label) {
  int err = MBG_OK, first[3] = {0}, index;
  static const int order[3] = {2, 0, 1};
  double R[2][3][3], value;
  char name[64];
  for (int k = 0; k < 3; k++) {
    const int j = order[k];
    first[j] = item->L->attributes.count;
    for (int i = 0; i < 3; i++) {
      const mbg__json *entry = matrix_entry(json, i, j);
      mbg__format(name, sizeof(name), "%s[%d][%d]", label, i, j);
      if (j == 1) {
        mbg__formula formula;
        real both[2] = {NAN, NAN};
        MBG_TRY(mbg__item_formula(item, entry, name, 1, &formula, &value));
        if (!isnan(value)) {
          MBG_TRY(mbg__load_evaluate(item, &formula, both));
        }
        R[0][i][j] = re(both[0]);
        R[1][i][j] = re(both[1]);
        continue;
      }
      MBG_TRY(mbg__item_attribute(item, entry, name, "", 0, 1, &index));
      R[0][i][j] = re(item->L->values[0].at[index]);
      R[1][i][j] = re(item->L->values[1].at[index]);
    }
  }
  MBG_TRY(check_matrix(item, json, label, R));
  MBG_TRY(mbg__pose_op_add(item->L, MBG__POSE_ZX, 0, first[2]));
done:
  return err;
}

/* ---------------------------------------------------------------------- all ways */

static const char ways[] =
    "[[\"z\", angle], ...], a matrix [[.., .., ..], ...], {\"vector\"}, {\"axis\", \"angle\"} or "
    "{\"z\", \"x\"}";

/* four numbers, a quaternion with its real part first: the rotation vector */
static int bad_quaternion(mbg__item *item, const mbg__json *json, const char *label) {
  double q[4], l = 0, v[3];
  const mbg__json *entry = json->child;
  for (int i = 0; i < 4; i++, entry = entry->next) {
    q[i] = entry->number;
    l += q[i] * q[i];
  }
  const double sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), angle = 2 * atan2(sine, q[0]);
  if (!(fabs(l - 1) < 1e-3)) {
    return mbg__item_bad(item, json, "%s: expected %s, found four numbers", label, ways);
  }
  for (int i = 0; i < 3; i++) {
    v[i] = sine > 0 ? angle * q[1 + i] / sine : 0;
  }
  return mbg__item_bad(item, json,
                       "%s: quaternions are not accepted; if the first number is the real part, write {\"vector\": "
                       "[%.10g, %.10g, %.10g]}",
                       label, v[0], v[1], v[2]);
}

/* numbers without axes */
static int bad_numbers(mbg__item *item, const mbg__json *json, const char *label) {
  bool plain = true;
  for (const mbg__json *entry = json->child; entry; entry = entry->next) {
    plain = plain && entry->kind == MBG__JSON_NUMBER;
  }
  if (json->count == 4 && plain) {
    return bad_quaternion(item, json, label);
  }
  if (json->count == 3) {
    return mbg__item_bad(
        item, json,
        "%s: three numbers do not say which rotation is meant; write {\"vector\": [..]} for a rotation "
        "vector, [[\"z\", yaw], [\"y\", pitch], [\"x\", roll]] for angles",
        label);
  }
  return mbg__item_bad(item, json, "%s: expected %s, found %d numbers", label, ways, json->count);
}

int mbg__item_rotate(mbg__item *item, const mbg__json *json, const char *label) {
  int err = MBG_OK, k = 0;
  if (!json) {
    return MBG_OK;
  }
  if (is_matrix(json)) {
    return rotate_matrix(item, json, label);
  }
  if (json->kind == MBG__JSON_ARRAY && json->child && is_number(json->child)) {
    return bad_numbers(item, json, label);
  }
  if (json->kind == MBG__JSON_ARRAY) {
    for (const mbg__json *step = json->child; step; step = step->next) {
      MBG_TRY(rotate_step(item, step, label, k++));
    }
    return MBG_OK;
  }
  if (mbg__json_member(json, "vector")) {
    return rotate_vector(item, json, label);
  }
  if (mbg__json_member(json, "axis")) {
    return rotate_axis(item, json, label);
  }
  if (mbg__json_member(json, "z")) {
    return rotate_zx(item, json, label);
  }
  return mbg__item_bad(item, json, "%s: expected %s", label, ways);
done:
  return err;
}
