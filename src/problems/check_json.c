/* The result of a check as JSON; the keys are described in docs/program.md. */
#include "io/json_write.h"
#include "problems/check.h"

typedef mbg__json_writer writer;

/* ---------------------------------------------------------------------- members */

static void put_number(writer *w, const char *key, double value) {
  mbg__json_key(w, key);
  mbg__json_number(w, value);
}

static void put_integer(writer *w, const char *key, int value) {
  mbg__json_key(w, key);
  mbg__json_integer(w, value);
}

static void put_boolean(writer *w, const char *key, bool value) {
  mbg__json_key(w, key);
  mbg__json_boolean(w, value);
}

/* null for NULL */
static void put_text(writer *w, const char *key, const char *text) {
  mbg__json_key(w, key);
  if (text) {
    mbg__json_string(w, text);
  } else {
    mbg__json_null(w);
  }
}

static void put_vector(writer *w, const char *key, const double x[3]) {
  mbg__json_key(w, key);
  mbg__json_numbers(w, x, 3);
}

static void put_pair(writer *w, const char *key, const char *const text[2]) {
  mbg__json_key(w, key);
  mbg__json_begin_array(w);
  mbg__json_string(w, text[0]);
  mbg__json_string(w, text[1]);
  mbg__json_end_array(w);
}

static void begin(writer *w, const char *key) {
  mbg__json_key(w, key);
  mbg__json_begin_object(w);
}

static void put_texts(writer *w, const char *key, const mbg_check *c, int count,
                      const char *(*at)(const mbg_check *, int)) {
  mbg__json_key(w, key);
  mbg__json_begin_array(w);
  for (int i = 0; i < count; i++) {
    mbg__json_string(w, at(c, i));
  }
  mbg__json_end_array(w);
}

/* an object with one member for each entry of a list */
static void put_list(writer *w, const char *key, const mbg_check *c, int count,
                     void (*put)(writer *, const mbg_check *, int)) {
  begin(w, key);
  for (int i = 0; i < count; i++) {
    put(w, c, i);
  }
  mbg__json_end_object(w);
}

/* ---------------------------------------------------------------------- entries */

static void put_start(writer *w, const mbg_check_start *s) {
  begin(w, "start");
  put_text(w, "method", s->method);
  put_number(w, "time", s->time);
  put_integer(w, "iterations", s->iterations);
  put_number(w, "guess_residual", s->guess_residual);
  put_number(w, "residual", s->residual);
  put_number(w, "guess_rate_residual", s->guess_rate_residual);
  put_number(w, "rate_residual", s->rate_residual);
  put_text(w, "worst", s->worst);
  put_number(w, "most_moved", s->most_moved);
  put_number(w, "most_turned", s->most_turned);
  put_integer(w, "free_positions", s->free_positions);
  put_integer(w, "free_rates", s->free_rates);
  put_boolean(w, "depends_on_metric", s->depends_on_metric);
  mbg__json_end_object(w);
}

static void put_body(writer *w, const mbg_check *c, int i) {
  const mbg_check_body *b = mbg_check_get_body(c, i);
  begin(w, b->name);
  put_text(w, "motion", b->motion);
  put_integer(w, "freedoms", b->freedoms);
  put_number(w, "mass", b->mass);
  put_vector(w, "position", b->position);
  put_vector(w, "rotation", b->rotation);
  put_vector(w, "velocity", b->velocity);
  put_vector(w, "angular_velocity", b->angular_velocity);
  put_number(w, "moved", b->moved);
  put_number(w, "turned", b->turned);
  put_boolean(w, "connected", b->connected);
  mbg__json_end_object(w);
}

static void put_joint(writer *w, const mbg_check *c, int i) {
  const mbg_check_joint *j = mbg_check_get_joint(c, i);
  begin(w, j->name);
  put_text(w, "type", j->type);
  put_pair(w, "bodies", j->bodies);
  put_integer(w, "constraints", j->rows);
  put_integer(w, "redundant", j->redundant);
  put_boolean(w, "closes_loop", j->closes_loop);
  begin(w, "coordinates");
  for (int k = 0; k < j->coordinates; k++) {
    begin(w, j->coordinate[k].name);
    put_number(w, "value", j->coordinate[k].value);
    put_number(w, "rate", j->coordinate[k].rate);
    put_text(w, "unit", j->coordinate[k].unit);
    put_text(w, "driver", j->coordinate[k].driver);
    mbg__json_end_object(w);
  }
  mbg__json_end_object(w);
  mbg__json_end_object(w);
}

static void put_driver(writer *w, const mbg_check *c, int i) {
  const mbg_check_driver *d = mbg_check_get_driver(c, i);
  begin(w, d->name);
  put_text(w, "joint", d->joint);
  put_text(w, "coordinate", d->coordinate);
  put_text(w, "law", d->law);
  put_number(w, "value", d->value);
  put_number(w, "rate", d->rate);
  mbg__json_end_object(w);
}

static void put_force(writer *w, const mbg_check *c, int i) {
  const mbg_check_force *f = mbg_check_get_force(c, i);
  begin(w, f->name);
  put_text(w, "type", f->type);
  put_pair(w, "bodies", f->bodies);
  put_text(w, "joint", f->joint);
  put_text(w, "along", f->along);
  if (f->along) {
    put_number(w, "length", f->length);
    put_number(w, "tension", f->tension);
  }
  put_vector(w, "force", f->force);
  put_vector(w, "torque", f->torque);
  mbg__json_end_object(w);
}

static void put_parameter(writer *w, const mbg_check *c, int i) {
  const mbg_check_parameter *p = mbg_check_get_parameter(c, i);
  begin(w, p->name);
  mbg__json_key(w, "value");
  if (p->vector) {
    mbg__json_numbers(w, p->values, p->count);
  } else {
    mbg__json_number(w, p->values[0]);
  }
  put_number(w, "min", p->min);
  put_number(w, "max", p->max);
  put_text(w, "unit", p->unit);
  put_integer(w, "uses", p->uses);
  mbg__json_end_object(w);
}

static void put_signal(writer *w, const mbg_check *c, int i) {
  const mbg_check_signal *s = mbg_check_get_signal(c, i);
  begin(w, s->name);
  put_text(w, "type", s->type);
  put_number(w, "value", s->value);
  mbg__json_end_object(w);
}

static void put_criterion(writer *w, const mbg_check *c, int i) {
  const mbg_check_criterion *k = mbg_check_get_criterion(c, i);
  begin(w, k->name);
  put_text(w, "kind", k->kind);
  mbg__json_end_object(w);
}

static void put_tree(writer *w, const mbg_check *c) {
  static const char *const kinds[] = {"joint", "free", "loop"};
  mbg__json_key(w, "tree");
  mbg__json_begin_array(w);
  for (int i = 0; i < c->summary.links; i++) {
    const mbg_check_link *l = mbg_check_get_link(c, i);
    mbg__json_begin_object(w);
    put_text(w, "kind", kinds[l->kind]);
    put_text(w, "body", l->body);
    put_text(w, "parent", l->parent);
    put_text(w, "joint", l->joint < 0 ? NULL : mbg_check_get_joint(c, l->joint)->name);
    put_integer(w, "depth", l->depth);
    mbg__json_end_object(w);
  }
  mbg__json_end_array(w);
}

/* ---------------------------------------------------------------------- all */

static void put_summary(writer *w, const mbg_check *c) {
  const mbg_check_summary *s = &c->summary;
  put_text(w, "model", s->model);
  put_text(w, "note", s->note);
  put_integer(w, "degrees_of_freedom", s->degrees_of_freedom);
  if (s->position_freedoms != s->degrees_of_freedom) {
    put_integer(w, "position_freedoms", s->position_freedoms);
  }
  put_integer(w, "unknowns", s->unknowns);
  if (s->states > 0) {
    put_integer(w, "states", s->states);
  }
  put_integer(w, "constraints", s->constraints);
  put_integer(w, "rank", s->rank);
  put_texts(w, "redundant", c, s->redundant, mbg_check_redundant);
  put_number(w, "size", s->size);
  put_number(w, "mass", s->mass);
  begin(w, "energy");
  put_number(w, "kinetic", s->kinetic_energy);
  put_number(w, "potential", s->potential_energy);
  mbg__json_end_object(w);
  put_start(w, &s->start);
}

static void put_all(writer *w, const mbg_check *c) {
  const mbg_check_summary *s = &c->summary;
  mbg__json_begin_object(w);
  put_summary(w, c);
  put_list(w, "bodies", c, s->bodies, put_body);
  put_list(w, "joints", c, s->joints, put_joint);
  put_list(w, "drivers", c, s->drivers, put_driver);
  put_texts(w, "couplings", c, s->couplings, mbg_check_coupling);
  put_list(w, "forces", c, s->forces, put_force);
  put_list(w, "parameters", c, s->parameters, put_parameter);
  put_integer(w, "attributes", s->attributes);
  put_list(w, "signals", c, s->signals, put_signal);
  put_list(w, "criteria", c, s->criteria, put_criterion);
  put_tree(w, c);
  put_texts(w, "warnings", c, s->warnings, mbg_check_warning);
  mbg__json_end_object(w);
}

int mbg_check_json(mbg_context *ctx, const mbg_check *check, char **text) {
  MBG_NEED(ctx, ctx && check && text);
  writer w;
  mbg__json_writer_init(&w, ctx, true);
  put_all(&w, check);
  return mbg__json_writer_hand_over(&w, text);
}
