/* Modal bodies: the sources of their data, the bodies that carry their coordinates, the nodes of their markers. */
#include "load/load_modal.h"
#include "model/modal_beam.h"

#include <string.h>

int mbg__modal_link_add(mbg__modal_reader *r, int entry, int attr, double factor) {
  return MBG__ADD(r->item->L, r->links, (mbg__modal_link){entry, attr, factor});
}

/* ---------------------------------------------------------------------- damping and start */

static int read_damping(mbg__modal_reader *r) {
  int err = MBG_OK;
  static const char *const keys[] = {"damping", "mass_damping"}, *const units[] = {"s", "1/s"};
  int *out[] = {&r->modal->damping, &r->modal->mass_damping};
  for (int k = 0; k < 2; k++) {
    const mbg__json *json = mbg__json_member(r->item->json, keys[k]);
    *out[k] = -1;
    if (json) {
      MBG_TRY(mbg__item_attribute(r->item, json, keys[k], units[k], 0, 1, out[k]));
      MBG_TRY(mbg__item_check_sign(r->item, json, MBG__NOT_NEGATIVE, *out[k]));
    }
  }
done:
  return err;
}

/* n numbers (0 when absent), laid out for the carriers: `stride` attributes each, of which three are used */
static int read_coordinates(mbg__modal_reader *r, const char *key, const char *unit, int stride, int *first) {
  int err = MBG_OK, index;
  const mbg__json *json = mbg__json_member(r->item->json, key), *entry = NULL;
  char label[64];
  *first = r->item->L->attributes.count;
  if (json) {
    MBG_TRY(mbg__item_array(r->item, json, key, r->modal->n, &entry));
  }
  for (int k = 0; k < stride * r->modal->ncarrier; k++) {
    const int mode = k / stride * 3 + k % stride;
    const bool used = k % stride < 3 && mode < r->modal->n;
    mbg__format(label, sizeof(label), "%s[%d]", key, used ? mode : 0);
    MBG_TRY(mbg__item_attribute(r->item, used ? entry : NULL, label, unit, 0, 1, &index));
    entry = used && entry ? entry->next : entry;
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- one body */

static int choose_source(mbg__modal_reader *r) {
  mbg__item *item = r->item;
  static const char *const keys[] = {"invariants", "beam", "files"};
  const mbg__json *found[3];
  int n = 0, k = 0;
  for (int i = 0; i < 3; i++) {
    found[i] = mbg__json_member(item->json, keys[i]);
    n += found[i] != NULL;
    k = found[i] ? i : k;
  }
  if (n != 1) {
    return mbg__item_bad_key(item, item->json, "give one of 'invariants', 'beam' and 'files'%s",
                             n ? ", not several" : "");
  }
  if (k > 0 && mbg__json_member(item->json, "nodes")) {
    return mbg__item_bad_key(item, mbg__json_member(item->json, "nodes"), "'nodes' requires 'invariants'");
  }
  return k == 0 ? mbg__modal_given(r) : k == 1 ? mbg__modal_generated(r) : mbg__modal_imported(r);
}

static int copy(mbg__loader *L, const void *at, int count, size_t size, void *out) {
  void *to = mbg__arena_take(L->arena, (size_t)count, size);
  if (!to) {
    return mbg__fail_memory(L->ctx);
  }
  if (count > 0) {
    memcpy(to, at, (size_t)count * size);
  }
  memcpy(out, &to, sizeof(to));
  return MBG_OK;
}

static int read_modal(mbg__modal_reader *r) {
  int err = MBG_OK;
  mbg__item *item = r->item;
  mbg__modal *m = r->modal;
  const mbg__json *modes = mbg__json_member(item->json, "modes");
  if (!modes) {
    return MBG_OK; /* reported already */
  }
  MBG_TRY(mbg__item_count(item, modes, "modes", &m->n));
  if (item->bad) {
    return MBG_OK;
  }
  if (m->n > MBG__MODES_MAX) {
    return mbg__item_bad(item, modes, "modes: at most %d, found %d", MBG__MODES_MAX, m->n);
  }
  m->ncarrier = (m->n + 2) / 3;
  r->at = mbg__modal_places(m->n);
  MBG_TRY(read_damping(r));
  MBG_TRY(read_coordinates(r, "deformation", "m", 3, &m->start));
  MBG_TRY(read_coordinates(r, "deformation_rate", "m/s", 6, &m->rate));
  MBG_TRY(choose_source(r));
  m->nlink = r->links.count;
  m->nnode = r->nodes.count;
  MBG_TRY(copy(item->L, r->links.at, m->nlink, sizeof(*r->links.at), &m->links));
  MBG_TRY(copy(item->L, r->nodes.at, m->nnode, sizeof(*r->nodes.at), &m->nodes));
done:
  return err;
}

int mbg__item_modal(mbg__item *item, const mbg__body *body) {
  mbg__loader *L = item->L;
  mbg__modal *place = MBG__PUSH(L, L->modals);
  if (!place) {
    return mbg__fail_memory(L->ctx);
  }
  mbg__modal modal = {.name = item->name, .body = L->bodies.count, .damping = -1, .mass_damping = -1};
  memcpy(modal.sign, item->source->sign, sizeof(modal.sign));
  modal.where = mbg__item_where_key(item, item->json);
  mbg__modal_reader r = {.item = item, .body = body, .modal = &modal};
  const int err = read_modal(&r);
  *place = modal;
  return err;
}

/* ---------------------------------------------------------------------- carriers */

static void no_inertia(const real *attr, const int *opt, real *M, real *M_a) {
  (void)attr;
  (void)opt;
  (void)M_a;
  m6_zero(M);
}

const mbg__body_type mbg__modes_carrier = {
    .key = "modes", .help = "coordinates of a modal body", .inertia = no_inertia};

static int add_carrier(mbg__loader *L, const mbg__modal *m, int index, int k) {
  int err = MBG_OK, first;
  const int used = m->n - 3 * k < 3 ? m->n - 3 * k : 3;
  char name[MBG__HINT_SIZE], owner[MBG__HINT_SIZE];
  mbg__item item;
  mbg__format(owner, sizeof(owner), "body '%s'", m->name);
  MBG_TRY(mbg__item_make(L, L->sources.at[0], L->sources.at[0]->root, owner, &item));
  mbg__format(name, sizeof(name), "%s.modes%d", m->name, k);
  mbg__body body = {.type = &mbg__modes_carrier,
                    .motion = MBG__POINT,
                    .mask = (1u << used) - 1,
                    .nvel = 6,
                    .velocity = m->rate + 6 * k,
                    .velocity_in_body = true,
                    .velocity_sign = {1, 1, 1},
                    .velocity_frame = -1,
                    .velocity_point = -1,
                    .modal = -1,
                    .carrier = index,
                    .state = -1,
                    .where = m->where};
  body.name = mbg__intern(L, name);
  MBG_TRY(mbg__pose_begin(L, &first));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_TRANSLATE, 0, m->start + 3 * k));
  MBG_TRY(mbg__pose_end(&item, first, &body.design));
  body.guess = body.design;
  err = body.name ? mbg__body_add(L, &body, NULL) : mbg__fail_memory(L->ctx);
done:
  return err;
}

int mbg__load_carriers(mbg__loader *L) {
  int err = MBG_OK;
  for (int i = 0; i < L->modals.count; i++) {
    mbg__modal *m = &L->modals.at[i];
    m->carrier = L->bodies.count;
    for (int k = 0; k < m->ncarrier; k++) {
      MBG_TRY(add_carrier(L, m, i, k));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- markers */

static double place_of(const mbg__loader *L, const mbg__modal *m, const mbg__modal_node *node, int k) {
  return node->at < 0 ? node->place[k] : m->sign[k] * mbg__value(L, node->at + k);
}

static double distance(const mbg__loader *L, const mbg__modal *m, const mbg__modal_node *node, const real x[3]) {
  double d = 0;
  for (int k = 0; k < 3; k++) {
    const double y = re(x[k]) - place_of(L, m, node, k);
    d += y * y;
  }
  return sqrt(d);
}

static int nearest_node(const mbg__loader *L, const mbg__modal *m, const real x[3], double *d) {
  int best = -1;
  *d = INFINITY;
  for (int i = 0; i < m->nnode; i++) {
    const double y = distance(L, m, &m->nodes[i], x);
    if (y < *d) {
      *d = y;
      best = i;
    }
  }
  return best;
}

/* the node at the marker's place; the body's own frame may be without one */
static int find_node(mbg__loader *L, const mbg__modal *m, mbg__marker *marker) {
  const real *x = L->placed[0].at[marker->pose].h.x;
  if (m->beam) {
    marker->node = 1 + mbg__modal_beam_element(m->beam, m->sign[0] * re(x[0]), mbg__value(L, m->beam->length));
    return MBG_OK;
  }
  double d, size = 0;
  for (int i = 0; i < m->nnode; i++) {
    size = fmax(size, distance(L, m, &m->nodes[i], (const real[3]){0, 0, 0}));
  }
  const int node = nearest_node(L, m, x, &d);
  if (node >= 0 && d <= 1e-9 * (1 + size)) {
    marker->node = node;
    return MBG_OK;
  }
  if (marker->body >= 0 && L->body_marker.at[marker->body] == (int)(marker - L->markers.at)) {
    marker->node = MBG__MODAL_RIGID;
    return MBG_OK;
  }
  L->errors++;
  if (node < 0) {
    return mbg__fail_at(L->ctx, MBG_ERROR_INPUT, &marker->where, 0,
                        "modal body '%s' has no nodes; a marker on it needs one", m->name);
  }
  return mbg__fail_at(L->ctx, MBG_ERROR_INPUT, &marker->where, 0,
                      "modal body '%s' has no node at (%g, %g, %g); the nearest is '%s', %.3g m away: put the marker "
                      "there, or give a marker \"node\": \"%s\" to fix it rigidly to that node",
                      m->name, re(x[0]), re(x[1]), re(x[2]), m->nodes[node].name, d, m->nodes[node].name);
}

int mbg__load_modal_markers(mbg__loader *L) {
  for (int i = 0; L->errors == 0 && i < L->markers.count; i++) {
    mbg__marker *marker = &L->markers.at[i];
    const int modal = marker->body >= 0 ? L->bodies.at[marker->body].modal : -1;
    if (modal >= 0 && marker->node == -1) {
      const int err = find_node(L, &L->modals.at[modal], marker);
      if (err == MBG_ERROR_MEMORY) {
        return err;
      }
    }
  }
  return MBG_OK;
}

/* attributes of a node's place, for a marker there */
static int place_at(mbg__item *item, const mbg__modal *m, const mbg__modal_node *node, int *at) {
  int err = MBG_OK, index;
  const mbg__where where = mbg__item_where(item, mbg__json_member(item->json, "node"));
  if (node->at >= 0) {
    *at = node->at;
    return MBG_OK;
  }
  *at = item->L->attributes.count;
  for (int k = 0; k < 3; k++) {
    const mbg__formula formula = {.number = m->sign[k] * node->place[k]};
    char label[32];
    mbg__format(label, sizeof(label), "at[%d]", k);
    MBG_TRY(mbg__attribute_add(item, &formula, label, "m", &where, &index));
  }
done:
  return err;
}

int mbg__item_modal_node(mbg__item *item, int body, int *node, int *at) {
  const mbg__json *json = mbg__json_member(item->json, "node");
  const char *name = NULL;
  char hint[MBG__HINT_SIZE];
  *node = -1;
  if (!json || body == -2) {
    return MBG_OK;
  }
  if (body < 0 || item->L->bodies.at[body].modal < 0) {
    return mbg__item_bad_key(item, json, "'node' applies only to markers on a modal body");
  }
  const mbg__modal *m = &item->L->modals.at[item->L->bodies.at[body].modal];
  const int err = mbg__item_text(item, json, "node", &name);
  if (err < 0 || !name) {
    return err;
  }
  if (strcmp(name, "frame") == 0) {
    *node = MBG__MODAL_RIGID;
    return MBG_OK;
  }
  const char **names = MBG_TAKE(&item->L->temp, const char *, m->nnode);
  if (!names) {
    return mbg__fail_memory(item->L->ctx);
  }
  for (int i = 0; i < m->nnode; i++) {
    names[i] = m->nodes[i].name;
    if (strcmp(name, names[i]) == 0) {
      *node = i;
      return mbg__json_member(item->json, "at") ? MBG_OK : place_at(item, m, &m->nodes[i], at);
    }
  }
  return mbg__item_bad(item, json, "modal body '%s' has no node '%s'%s", m->name, name,
                       mbg__hint(hint, mbg__near(name, names, m->nnode)));
}

int mbg__carrier_pair(mbg__loader *L, int body, int *pair) {
  int err = MBG_OK, ground, carrier, pose;
  if (L->carrier_ground < 0) {
    MBG_TRY(mbg__pose_empty(L, &pose));
    MBG_TRY(mbg__marker_add(L, NULL, -1, pose, &L->bodies.at[body].where, &L->carrier_ground));
  }
  ground = L->carrier_ground;
  MBG_TRY(mbg__body_marker(L, body, &carrier));
  MBG_TRY(mbg__pair_add(L, ground, carrier, pair));
done:
  return err;
}

int mbg__modal_pair(mbg__loader *L, int modal, int mode, int *pair) {
  return mbg__carrier_pair(L, mbg__modal_carrier(&L->modals.at[modal], mode), pair);
}

int mbg__item_mode(mbg__item *item, const mbg__json *json, int modal, int *mode) {
  const mbg__modal *m = &item->L->modals.at[modal];
  *mode = -1;
  if (!json) {
    return mbg__item_missing(item, item->json, "mode");
  }
  if (json->kind != MBG__JSON_NUMBER || json->number != floor(json->number) || json->number < 0 ||
      json->number >= m->n) {
    return mbg__item_bad(item, json, "mode must be an integer from 0 to %d: body '%s' has %d modes", m->n - 1, m->name,
                         m->n);
  }
  *mode = (int)json->number;
  return MBG_OK;
}
