/* Spatial tendons of MJCF: through sites, around spheres and cylinders between two sites, branches by <pulley>. */
#include "import/mjcf.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- finding */

static int find_site(mbg__mjcf *m, const mbg__xml *at, const char *key, int *out) {
  const char *name = mbg__xml_value(at, key);
  char word[300];
  mbg__format(word, sizeof(word), "site_%.280s", name ? name : "");
  *out = name ? mbg__robot_find_link(m->robot, word) : -1;
  return *out >= 0 ? MBG_OK : mbg__xml_fail(m->robot->ctx, at, "there is no site '%s'", name ? name : "");
}

/* the next element of the tree in the order of the file, without what is above `top` */
static const mbg__xml *next_element(const mbg__xml *e, const mbg__xml *top) {
  if (e->child) {
    return e->child;
  }
  while (e != top && !e->next) {
    e = e->parent;
  }
  return e == top ? NULL : e->next;
}

static const mbg__xml *find_geom(const mbg__mjcf *m, const char *name) {
  for (const mbg__xml *w = mbg__xml_child(m->root, "worldbody"); w; w = mbg__xml_next(w)) {
    for (const mbg__xml *e = w->child; e; e = next_element(e, w)) {
      const char *own = strcmp(e->name, "geom") == 0 ? mbg__xml_value(e, "name") : NULL;
      if (own && !strcmp(own, name)) {
        return e;
      }
    }
  }
  return NULL;
}

/* what an element is in, <frame>s aside */
static const mbg__xml *body_of(const mbg__xml *e) {
  do {
    e = e->parent;
  } while (!strcmp(e->name, "frame"));
  return e;
}

/* the link that carries the geoms of a body: the last one of its chain; the ground */
static int link_of(const mbg__robot *robot, const mbg__xml *geom) {
  const mbg__xml *body = body_of(geom);
  for (int l = robot->nlink - 1; l >= 0 && !strcmp(body->name, "body"); l--) {
    const mbg__xml *at = robot->links[l].at;
    if (at == body || (body_of(at) == body && (!strcmp(at->name, "joint") || !strcmp(at->name, "freejoint")))) {
      return l;
    }
  }
  return MBG__ROBOT_GROUND;
}

/* ---------------------------------------------------------------------- places */

/* A sphere or a cylinder; false: another one, or one of the world, which has no link. */
static int read_round(mbg__mjcf *m, const mbg__xml *at, mbg__robot_place *p, bool *known) {
  const char *name = mbg__xml_value(at, "geom"), *class = NULL, *type;
  const mbg__xml *geom = name ? find_geom(m, name) : NULL;
  mbg__mjcf_element e;
  double size[3] = {0};
  int err = MBG_OK;
  *known = false;
  if (!geom) {
    return mbg__xml_fail(m->robot->ctx, at, "there is no geom '%s'", name ? name : "");
  }
  for (const mbg__xml *b = geom->parent; b && !class; b = b->parent) {
    class = mbg__xml_value(b, "childclass");
  }
  MBG_TRY(mbg__mjcf_element_of(m, geom, class, &e));
  type = mbg__mjcf_value(m, &e, "type");
  type = type ? type : "sphere";
  if (strcmp(type, "sphere") != 0 && strcmp(type, "cylinder") != 0) {
    err = mbg__xml_fail(m->robot->ctx, at, "a tendon goes around spheres and cylinders, not around a %.20s", type);
    goto done;
  }
  MBG_TRY(mbg__mjcf_geom_size(m, &e, type, size));
  MBG_TRY(mbg__mjcf_frame(m, &e, &p->in_link));
  p->link = link_of(m->robot, geom);
  p->round = true;
  p->ball = !strcmp(type, "sphere");
  p->radius = size[0];
  p->side = -1;
  if (mbg__xml_value(at, "sidesite")) {
    MBG_TRY(find_site(m, at, "sidesite", &p->side));
  }
  *known = p->radius > 0;
done:
  return err;
}

/* Each geom is between two sites of one branch, and each branch has two sites at least. */
static bool is_path(const mbg__robot *robot, int first, int count) {
  int sites = 0;
  bool good = count > 0;
  for (int k = first; k < first + count; k++) {
    const mbg__robot_place *p = &robot->places[k];
    const bool ends = k + 1 == first + count || p[1].begins;
    sites = (p->begins ? 0 : sites) + !p->round;
    good = good && !(p->round && (p->begins || ends || p[-1].round)) && (!ends || sites > 1);
  }
  return good;
}

static int read_places(mbg__mjcf *m, const mbg__xml *at, int *count, bool *known) {
  double ratio = 1;
  bool begins = true;
  int err = MBG_OK;
  *known = true;
  for (const mbg__xml *c = at->child; c; c = c->next) {
    mbg__robot_place p = {.ratio = ratio, .begins = begins, .side = -1, .at = c};
    bool good = true;
    if (!strcmp(c->name, "pulley")) {
      double divisor = 1;
      MBG_TRY(mbg__xml_number(m->robot->ctx, c, "divisor", &divisor));
      if (!(divisor > 0)) {
        err = mbg__xml_fail(m->robot->ctx, c, "the divisor of a pulley must be positive");
        goto done;
      }
      ratio = 1 / divisor;
      begins = true;
      continue;
    }
    if (!strcmp(c->name, "geom")) {
      MBG_TRY(read_round(m, c, &p, &good));
    } else if (!strcmp(c->name, "site")) {
      MBG_TRY(find_site(m, c, "site", &p.link));
    } else {
      good = false;
    }
    *known = *known && good;
    begins = false;
    MBG_TRY(mbg__robot_add_place(m->robot, &p));
    ++*count;
  }
done:
  return err;
}

int mbg__mjcf_read_rope(mbg__mjcf *m, const mbg__xml *at, const char *name, const mbg__robot_pull *pull) {
  mbg__robot_rope rope = {.name = name, .pull = *pull, .at = at};
  bool known;
  int err = MBG_OK;
  MBG_TRY(read_places(m, at, &rope.count, &known));
  if (!known || !is_path(m->robot, m->robot->nplace - rope.count, rope.count)) {
    m->robot->nplace -= rope.count;
    mbg__report_add(m->robot->report, at, "left out",
                    "<spatial> in <tendon> that is no path through sites, and around geoms between two of them");
    goto done;
  }
  rope.pull.lower = rope.pull.lower > 0 ? rope.pull.lower : NAN; /* a length is never below zero */
  if (rope.pull.rest[0] < rope.pull.rest[1] && rope.pull.rest[0] <= 0) {
    rope.pull.rest[0] = -INFINITY;
  }
  err = mbg__robot_add_rope(m->robot, &rope);
done:
  return err;
}
