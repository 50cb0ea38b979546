#include "view/scene_json.h"

#include "mbgrad/model.h"
#include "model/modal_beam.h"
#include "view/rope.h"
#include "view/surface.h"
#include "view/view_internal.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- short forms */

static void text(mbg__json_writer *w, const char *key, const char *value) {
  mbg__json_key(w, key);
  mbg__json_string(w, value ? value : "");
}

static void integer(mbg__json_writer *w, const char *key, int value) {
  mbg__json_key(w, key);
  mbg__json_integer(w, value);
}

static void numbers(mbg__json_writer *w, const char *key, const double *values, int count) {
  mbg__json_key(w, key);
  mbg__json_numbers(w, values, count);
}

static void array(mbg__json_writer *w, const char *key) {
  mbg__json_key(w, key);
  mbg__json_begin_array(w);
}

/* eight digits: finer than the picture */
static void brief(mbg__json_writer *w, double value) {
  const double power = value != 0 ? pow(10, 7 - floor(log10(fabs(value)))) : 1;
  mbg__json_number(w, isfinite(power) ? round(value * power) / power : value);
}

/* ---------------------------------------------------------------------- markers */

/* "modal": displacement of the origin by each mode */
static void modal(mbg__json_writer *w, const mbg__scene *s, int index) {
  const mbg__modal_handle *handle = &s->design->handles[index];
  if (handle->n > 0) {
    array(w, "modal");
    for (int j = 0; j < 3 * handle->n; j++) {
      brief(w, re(handle->P[6 * (j / 3) + j % 3]));
    }
    mbg__json_end_array(w);
  }
}

static void marker(mbg__json_writer *w, const mbg__scene *s, const char *key, int index) {
  double frame[12];
  mbg__json_key(w, key);
  mbg__json_begin_object(w);
  integer(w, "body", s->m->markers[index].body);
  mbg__scene_flatten(&s->design->markers[index]->h, frame);
  numbers(w, "frame", frame, 12);
  modal(w, s, index);
  mbg__json_end_object(w);
}

static void pair(mbg__json_writer *w, const mbg__scene *s, int index) {
  marker(w, s, "a", s->m->pairs[index].A);
  marker(w, s, "b", s->m->pairs[index].B);
}

/* ---------------------------------------------------------------------- elements */

static void bodies(mbg__json_writer *w, const mbg__scene *s) {
  array(w, "bodies");
  for (int b = 0; b < mbg__frames(s->m); b++) {
    mbg__json_string(w, s->m->bodies[b].name);
  }
  mbg__json_end_array(w);
}

static void shapes(mbg__json_writer *w, const mbg__scene *s) {
  array(w, "shapes");
  for (int i = 0; i < s->nshape; i++) {
    const mbg__draw *d = &s->shapes[i];
    mbg__json_begin_object(w);
    text(w, "kind", mbg__draw_name(d->kind));
    integer(w, "body", d->body);
    numbers(w, "frame", d->frame, 12);
    numbers(w, "size", d->size, 3);
    if (d->color >= 0) {
      char color[16];
      mbg__format(color, sizeof(color), "#%06x", (unsigned)d->color);
      text(w, "color", color);
    }
    if (d->opacity < 1) {
      mbg__json_key(w, "opacity");
      mbg__json_number(w, d->opacity);
    }
    if (d->mesh >= 0) {
      integer(w, "mesh", d->mesh);
    }
    if (d->marker >= 0) {
      modal(w, s, d->marker);
    }
    if (d->glass || d->wheel) {
      mbg__json_key(w, d->glass ? "glass" : "wheel");
      mbg__json_boolean(w, true);
    }
    mbg__json_end_object(w);
  }
  mbg__json_end_array(w);
}

static void joints(mbg__json_writer *w, const mbg__scene *s) {
  array(w, "joints");
  for (int i = 0; i < s->m->njoint; i++) {
    const mbg__joint *j = &s->m->joints[i];
    mbg__json_begin_object(w);
    text(w, "name", j->name);
    text(w, "type", j->type->key);
    pair(w, s, j->pair);
    mbg__json_end_object(w);
  }
  mbg__json_end_array(w);
}

/* "contact": shape, axis of A, radii of B and A */
static void contact(mbg__json_writer *w, const mbg__scene *s, int force) {
  mbg__contact_view c;
  if (mbg__contact_of(s, force, &c)) {
    mbg__json_key(w, "contact");
    mbg__json_begin_array(w);
    mbg__json_string(w, c.shape);
    mbg__json_integer(w, c.up);
    mbg__json_number(w, c.radius);
    mbg__json_number(w, c.radius_a);
    mbg__json_end_array(w);
  }
}

/* "along": the coordinate of a law */
static void forces(mbg__json_writer *w, const mbg__scene *s) {
  array(w, "forces");
  for (int i = 0; i < s->m->nforce; i++) {
    const mbg__force *f = &s->m->forces[i];
    if (!mbg__scene_shows(s->m, i)) {
      continue;
    }
    mbg__json_begin_object(w);
    text(w, "name", f->name);
    text(w, "type", f->law ? f->law->key : f->type->key);
    if (f->law) {
      text(w, "along", s->m->coords[f->coord].type->key);
      integer(w, "sign", s->m->coords[f->coord].sign < 0 ? -1 : 1);
    }
    contact(w, s, i);
    pair(w, s, f->pair);
    mbg__json_end_object(w);
  }
  mbg__json_end_array(w);
}

static void markers(mbg__json_writer *w, const mbg__scene *s) {
  array(w, "markers");
  for (int i = 0; i < s->m->nmarker; i++) {
    if (s->m->markers[i].name) {
      mbg__json_begin_object(w);
      text(w, "name", s->m->markers[i].name);
      marker(w, s, "a", i);
      mbg__json_end_object(w);
    }
  }
  mbg__json_end_array(w);
}

/* the force of the first straight part of a path, among those that are shown; -1: an inextensible tendon */
static int tension_of(const mbg_model *m, int first) {
  const int coord = m->strands[m->vias[first].out].coord[0];
  for (int i = 0, shown = 0; i < m->nforce; i++) {
    if (m->forces[i].law && m->forces[i].law->tendon && m->forces[i].coord == coord) {
      return shown;
    }
    shown += mbg__scene_shows(m, i);
  }
  return -1;
}

/* paths of places: "left" is the signed radius of a pulley, whose axle lies on the left of the tendon; 0: a point */
static void tendons(mbg__json_writer *w, const mbg__scene *s) {
  const mbg_model *m = s->m;
  array(w, "ropes");
  for (int i = 0; i < m->ntendon; i++) {
    const int end = m->tendons[i].via + m->tendons[i].nvia;
    for (int first = m->tendons[i].via, last; first < end; first = last + 1) {
      last = mbg__rope_last(m, first);
      mbg__json_begin_object(w);
      text(w, "name", m->tendons[i].name);
      integer(w, "force", m->tendons[i].row < 0 ? tension_of(m, first) : -1);
      array(w, "places");
      for (int k = first; k <= last; k++) {
        mbg__json_begin_object(w);
        mbg__json_key(w, "left");
        mbg__json_number(w, mbg__rope_left(s, k));
        marker(w, s, "a", m->vias[k].marker);
        mbg__json_end_object(w);
      }
      mbg__json_end_array(w);
      mbg__json_end_object(w);
    }
  }
  mbg__json_end_array(w);
}

/* ---------------------------------------------------------------------- beams */

static bool is_round(const mbg__beam_rule *rule) { return rule->section == MBG__CIRCLE || rule->section == MBG__TUBE; }

static void beams(mbg__json_writer *w, const mbg__scene *s) {
  array(w, "beams");
  for (int i = 0; i < s->m->nbeam; i++) {
    const mbg__beam *b = &s->m->beams[i];
    mbg__json_begin_object(w);
    text(w, "name", b->name);
    integer(w, "first", b->body);
    integer(w, "count", b->count);
    mbg__json_key(w, "round");
    mbg__json_boolean(w, is_round(&b->rule));
    array(w, "section");
    for (int e = 0; e < b->count; e++) {
      double size[2];
      mbg__scene_section(s, &b->rule, s->m->elements[b->first + e].attr, size);
      mbg__json_numbers(w, size, 2);
    }
    mbg__json_end_array(w);
    array(w, "E");
    for (int e = 0; e < b->count; e++) {
      mbg__json_number(w, re(s->design->attr[s->m->elements[b->first + e].attr[MBG__BEAM_E]]));
    }
    mbg__json_end_array(w);
    mbg__json_end_object(w);
  }
  mbg__json_end_array(w);
}

/* ---------------------------------------------------------------------- modal bodies */

enum { STATIONS = 5 }; /* of each element of a generated beam, its last end not counted */

/* a point of the axis of a generated beam, its displacements and rotations by the modes: 3 + 6 n numbers */
static void station(mbg__json_writer *w, const mbg__scene *s, const mbg__modal *o, double xi) {
  double r[3], P[6 * MBG__MODES_MAX];
  mbg__scene_station(s, o, xi, r, P);
  mbg__json_begin_array(w);
  for (int i = 0; i < 3; i++) {
    brief(w, r[i]);
  }
  for (int i = 0; i < 6 * o->n; i++) {
    brief(w, P[i]);
  }
  mbg__json_end_array(w);
}

static void modal_beam(mbg__json_writer *w, const mbg__scene *s, const mbg__modal *o) {
  double size[2];
  array(w, "stations");
  const int n = STATIONS * o->beam->count;
  for (int k = 0; k <= n; k++) {
    station(w, s, o, (double)k / n);
  }
  mbg__json_end_array(w);
  mbg__scene_section(s, &o->beam->rule, o->beam->attr[0], size);
  numbers(w, "section", size, 2);
  array(w, "E");
  for (int e = 0; e < o->beam->count; e++) {
    mbg__json_number(w, re(s->design->attr[o->beam->attr[e][MBG__BEAM_E]]));
  }
  mbg__json_end_array(w);
  mbg__json_key(w, "round");
  mbg__json_boolean(w, is_round(&o->beam->rule));
}

static void modal_nodes(mbg__json_writer *w, const mbg__scene *s, const mbg__modal *o) {
  const real *a = s->design->attr;
  array(w, "nodes");
  for (int k = 0; k < o->nnode; k++) {
    const mbg__modal_node *node = &o->nodes[k];
    mbg__json_begin_array(w);
    for (int i = 0; i < 3; i++) {
      brief(w, node->at >= 0 ? node->sign[i] * re(a[node->at + i]) : node->place[i]);
    }
    for (int i = 0; i < 6 * o->n; i++) {
      brief(w, node->columns >= 0 ? re(a[node->columns + i]) : node->P[i]);
    }
    mbg__json_end_array(w);
  }
  mbg__json_end_array(w);
}

static void modals(mbg__json_writer *w, const mbg__scene *s) {
  int first = 0;
  array(w, "modal");
  for (int i = 0; i < s->m->nmodal; i++) {
    const mbg__modal *o = &s->m->modals[i];
    mbg__json_begin_object(w);
    integer(w, "body", o->body);
    integer(w, "first", first);
    integer(w, "n", o->n);
    if (o->beam) {
      modal_beam(w, s, o);
    } else {
      modal_nodes(w, s, o);
    }
    mbg__json_end_object(w);
    first += o->n;
  }
  mbg__json_end_array(w);
}

/* ---------------------------------------------------------------------- all */

void mbg__scene_json(mbg__json_writer *w, const mbg__scene *s) {
  text(w, "name", s->m->name);
  text(w, "note", s->m->note);
  mbg__json_key(w, "size");
  mbg__json_number(w, s->size);
  mbg__json_key(w, "part");
  mbg__json_number(w, s->part);
  numbers(w, "up", s->up, 3);
  mbg__json_key(w, "planar");
  mbg__json_boolean(w, s->planar);
  bodies(w, s);
  shapes(w, s);
  joints(w, s);
  forces(w, s);
  markers(w, s);
  tendons(w, s);
  beams(w, s);
  modals(w, s);
}

static void parameters(mbg__json_writer *w, const mbg_model *model, const double *p) {
  array(w, "parameters");
  for (int i = 0; i < model->np; i++) {
    char name[256];
    (void)mbg_model_parameter_name(model, i, name, sizeof(name));
    mbg__json_begin_object(w);
    text(w, "name", name);
    mbg__json_key(w, "value");
    mbg__json_number(w, p[i]);
    text(w, "unit", mbg_model_parameter_unit(model, i));
    text(w, "note", mbg_model_parameter_note(model, i));
    mbg__json_end_object(w);
  }
  mbg__json_end_array(w);
}

void mbg__scene_json_results(mbg__json_writer *w, const mbg_model *model, const double *p, const double *psi,
                             const double *gradient) {
  parameters(w, model, p);
  array(w, "criteria");
  for (int k = 0; psi && k < model->ncriterion; k++) {
    mbg__json_begin_object(w);
    text(w, "name", model->criteria[k].name);
    mbg__json_key(w, "value");
    mbg__json_number(w, psi[k]);
    if (gradient) {
      numbers(w, "gradient", gradient + (size_t)k * (size_t)model->np, model->np);
    }
    mbg__json_end_object(w);
  }
  mbg__json_end_array(w);
}
