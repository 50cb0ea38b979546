/* Shapes of bodies and markers. They are read by the functions that read all other numbers and poses, into lists that
   stand in the place of the model's own for this time: no equation depends on them. */
#include "io/file.h"
#include "io/mesh.h"
#include "load/load.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- numbers */

static const double largest = 1e9; /* m; what a picture can show */

static int check_number(mbg__item *item, const mbg__json *json, int number, bool positive) {
  const double x = mbg__value(item->L, number);
  const char *key = item->L->attributes.at[number].label->key;
  if (isnan(x) || !json) {
    return MBG_OK; /* an error was filed, or the preset */
  }
  if (positive ? !(x > 0) : x == 0) {
    return mbg__item_bad(item, json, "%s must %s, is %g", key, positive ? "be positive" : "not be zero", x);
  }
  return fabs(x) <= largest ? MBG_OK : mbg__item_bad(item, json, "%s is %g; pictures show up to %g", key, x, largest);
}

static int read_length(mbg__item *item, const mbg__json *object, const char *key) {
  int err = MBG_OK, index;
  const mbg__json *json = mbg__json_member(object, key);
  MBG_TRY(mbg__item_attribute(item, json, key, "m", 0, 1, &index));
  MBG_TRY(check_number(item, json, index, true));
done:
  return err;
}

/* one factor for all axes, or three; mirrored where the part is */
static int read_scale(mbg__item *item, const mbg__json *json) {
  int err = MBG_OK, first, index;
  if (json && json->kind == MBG__JSON_ARRAY) {
    MBG_TRY(mbg__item_vector(item, json, "scale", "", 1, item->source->sign, &first));
  } else {
    first = item->L->attributes.count;
    for (int i = 0; i < 3; i++) {
      MBG_TRY(mbg__item_attribute(item, json, "scale", "", 1, item->source->sign[i], &index));
    }
  }
  for (int i = 0; i < 3 && !item->bad; i++) {
    MBG_TRY(check_number(item, json, first + i, false));
  }
done:
  return err;
}

static int read_numbers(mbg__item *item, const mbg__json *json, mbg__figure *f) {
  int err = MBG_OK, first;
  f->number = item->L->attributes.count;
  if (f->kind == MBG__FIGURE_MESH) {
    MBG_TRY(read_scale(item, mbg__json_member(json, "scale")));
  } else if (f->kind == MBG__FIGURE_BOX) {
    const mbg__json *size = mbg__json_member(json, "size");
    MBG_TRY(mbg__item_vector(item, size, "size", "m", 0, NULL, &first));
    for (int i = 0; i < 3; i++) {
      MBG_TRY(check_number(item, size, first + i, true));
    }
  } else {
    MBG_TRY(read_length(item, json, "radius"));
    if (f->kind != MBG__FIGURE_SPHERE) {
      MBG_TRY(read_length(item, json, "length"));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- looks */

static int read_color(mbg__item *item, const mbg__json *json, int *color) {
  const char *text = NULL;
  *color = -1;
  if (!json) {
    return MBG_OK;
  }
  const int err = mbg__item_text(item, json, "color", &text);
  if (err < 0 || !text) {
    return err;
  }
  if (text[0] == '#' && strlen(text) == 7 && strspn(text + 1, "0123456789abcdefABCDEF") == 6) {
    *color = (int)strtol(text + 1, NULL, 16);
    return MBG_OK;
  }
  return mbg__item_bad(item, json, "color: expected \"#rrggbb\" with hexadecimal digits, found '%.40s'", text);
}

static int read_look(mbg__item *item, const mbg__json *json, mbg__figure *f) {
  int err = MBG_OK;
  const mbg__json *opacity = mbg__json_member(json, "opacity");
  MBG_TRY(read_color(item, mbg__json_member(json, "color"), &f->color));
  f->opacity = 1;
  if (opacity) {
    MBG_TRY(mbg__item_fixed(item, opacity, "opacity", &f->opacity, NULL));
    if (f->opacity < 0 || f->opacity > 1) {
      MBG_TRY(mbg__item_bad(item, opacity, "opacity must be from 0 to 1, is %g", f->opacity));
    }
  }
done:
  return err;
}

static int read_file(mbg__item *item, const mbg__json *json, mbg__figure *f) {
  const char *name = NULL;
  const int err = mbg__item_text(item, json, "file", &name);
  if (err < 0 || !name) {
    return err;
  }
  if (!mbg__mesh_is_file(name)) {
    return mbg__item_bad(item, json, "file: expected a name that ends in .stl, .obj, .gltf or .glb, found '%.200s'",
                         name);
  }
  f->file = mbg__path_beside(item->L->arena, item->source->base, name);
  return f->file ? MBG_OK : mbg__fail_memory(item->L->ctx);
}

/* ---------------------------------------------------------------------- figures */

static int read_pose(mbg__item *item, const mbg__json *json, mbg__figure *f) {
  int err = MBG_OK, at, pose;
  mbg__loader *L = item->L;
  MBG_TRY(mbg__item_vector(item, mbg__json_member(json, "at"), "at", "m", 0, NULL, &at));
  MBG_TRY(mbg__pose_begin(L, &f->first));
  MBG_TRY(mbg__pose_enter_local(L, item->source));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_TRANSLATE, 0, at));
  MBG_TRY(mbg__item_rotate(item, mbg__json_member(json, "rotate"), "rotate"));
  MBG_TRY(mbg__pose_leave(L, item->source));
  MBG_TRY(mbg__pose_end(item, f->first, &pose));
  f->count = L->ops.count - f->first;
done:
  return err;
}

static int read_figure(mbg__item *owner, const mbg__json *json, int body, int marker) {
  int err = MBG_OK, kind;
  bool yes;
  mbg__item item = *owner;
  mbg__figure f = {.body = body, .marker = marker, .turned = owner->source->sign[2] < 0};
  MBG_TRY(mbg__item_object(&item, json, "shape", &yes));
  if (!yes) {
    goto done;
  }
  item.json = json;
  f.where = mbg__item_where(&item, json);
  MBG_TRY(mbg__item_own_type(&item, mbg__figure_words, MBG__FIGURE_KINDS, &kind));
  if (kind < 0) {
    goto done;
  }
  f.kind = (mbg__figure_kind)kind;
  const mbg__file_object keys[] = {(mbg__file_object)(MBG__KEYS_BOX + kind)};
  MBG_TRY(mbg__item_keys(&item, json, keys, 1, NULL, 0));
  MBG_TRY(read_numbers(&item, json, &f));
  MBG_TRY(read_pose(&item, json, &f));
  MBG_TRY(read_look(&item, json, &f));
  if (f.kind == MBG__FIGURE_MESH && mbg__json_member(json, "file")) {
    MBG_TRY(read_file(&item, mbg__json_member(json, "file"), &f));
  }
  MBG_TRY(MBG__ADD(item.L, item.L->figures, f));
done:
  owner->bad = owner->bad || item.bad;
  return err;
}

static int read_figures(mbg__item *item, int body, int marker) {
  int err = MBG_OK;
  const mbg__json *json = item->json->kind == MBG__JSON_OBJECT ? mbg__json_member(item->json, "shape") : NULL;
  if (!json) {
    return MBG_OK;
  }
  if (json->kind != MBG__JSON_ARRAY) {
    return read_figure(item, json, body, marker);
  }
  for (const mbg__json *entry = json->child; entry; entry = entry->next) {
    MBG_TRY(read_figure(item, entry, body, marker));
  }
done:
  return err;
}

static int body_figures(mbg__item *item, mbg__symbol *symbol) {
  if (symbol->index < 0 || item->json->kind != MBG__JSON_OBJECT || mbg__json_member(item->json, "outer")) {
    return MBG_OK;
  }
  item->L->bodies.at[symbol->index].figured = mbg__json_member(item->json, "shape") != NULL;
  return read_figures(item, symbol->index, -1);
}

static int marker_figures(mbg__item *item, mbg__symbol *symbol) {
  return symbol->index < 0 ? MBG_OK : read_figures(item, -1, symbol->index);
}

int mbg__load_figures(mbg__loader *L) {
  int err = MBG_OK;
  const mbg__loader own = *L;
  mbg__figures *out = &L->model->figures;
  static const mbg__loader none;
  for (int set = 0; set < 2; set++) {
    L->values[set] = none.values[set];
    L->placed[set] = none.placed[set];
  }
  L->attributes = none.attributes;
  L->poses = none.poses;
  L->ops = none.ops;
  MBG_TRY(mbg__load_each(L, MBG__NAME_BODY, body_figures));
  MBG_TRY(mbg__load_each(L, MBG__NAME_MARKER, marker_figures));
  out->n = L->figures.count;
  out->nnumber = L->attributes.count;
  out->nop = L->ops.count;
  MBG_TRY(mbg__list_copy(L, L->figures.at, out->n, sizeof(*out->at), &out->at));
  MBG_TRY(mbg__list_copy(L, L->attributes.at, out->nnumber, sizeof(*out->numbers), &out->numbers));
  MBG_TRY(mbg__list_copy(L, L->ops.at, out->nop, sizeof(*out->ops), &out->ops));
done:
  for (int set = 0; set < 2; set++) {
    L->values[set] = own.values[set];
    L->placed[set] = own.placed[set];
  }
  L->attributes = own.attributes;
  L->poses = own.poses;
  L->ops = own.ops;
  return err;
}
