/* Tracking forces, which draw a model to its measurements, for continuation methods (C. P. Vyasarayani, T. Uchida,
   J. McPhee, Nonlinear parameter identification in multibody systems using homotopy continuation, 2011). Each
   least-squares criterion of a position, a joint coordinate, a distance or their rates gets a force along its
   coordinate q,

     F = gain m/tau^2 (data - q) + 2 sqrt(gain) m/tau (data' - q')         or, of a rate,   F = gain m/tau (data - q')

   a critically damped spring: m is the mass of the model, tau a tenth of the time span of the data; for angles m is
   multiplied by size^2. The rate of the data is the slope of a straight line through five samples. The forces are
   added to the parsed file as ordinary elements before any section is loaded: their derivatives need no own code. */
#include "io/json_write.h"
#include "load/load.h"

#include <string.h>

/* The tracked coordinate, and whether its rate was measured. */
typedef struct {
  const char *joint, *coordinate; /* of a joint */
  const char *A, *B, *along;      /* or of two markers */
  bool rate, angle;
} target;

static const char *text_of(const mbg__json *object, const char *key, const char *preset) {
  const mbg__json *json = mbg__json_member(object, key);
  return json && json->kind == MBG__JSON_STRING ? json->text : preset;
}

/* a component is a letter or a number from 1 */
static const char *component_of(const mbg__json *signal) {
  static const char *const letters[] = {"x", "y", "z"};
  const mbg__json *json = mbg__json_member(signal, "component");
  if (json && json->kind == MBG__JSON_NUMBER && json->number >= 1 && json->number <= 3) {
    return letters[(int)json->number - 1];
  }
  return json && json->kind == MBG__JSON_STRING ? json->text : NULL;
}

static bool between(const mbg__json *signal, const char *along, bool rate, target *t) {
  *t = (target){.A = text_of(signal, "relative_to", "ground"), .B = text_of(signal, "of", NULL), .along = along};
  t->rate = rate;
  t->angle = along && (!strncmp(along, "angle", 5) || !strcmp(along, "polar"));
  const char *in = text_of(signal, "in", "reference");
  return t->B && along && strcmp(in, "body") != 0 && strcmp(in, "B") != 0;
}

static bool of_joint(const mbg__json *signal, bool rate, target *t) {
  *t = (target){.joint = text_of(signal, "joint", NULL), .coordinate = text_of(signal, "coordinate", NULL)};
  t->rate = rate;
  t->angle = !t->coordinate || strncmp(t->coordinate, "angle", 5) == 0;
  return t->joint || between(signal, text_of(signal, "coordinate", NULL), rate, t);
}

/* false: a signal of this type cannot be tracked */
static bool find_target(const mbg__json *signal, target *t) {
  const char *type = text_of(signal, "type", "");
  if (!strcmp(type, "position") || !strcmp(type, "velocity")) {
    return between(signal, component_of(signal), type[0] == 'v', t);
  }
  if (!strcmp(type, "distance") || !strcmp(type, "distance-rate")) {
    return between(signal, "distance", type[8] == '-', t);
  }
  if (!strcmp(type, "coordinate") || !strcmp(type, "rate")) {
    return of_joint(signal, type[0] == 'r', t);
  }
  return false;
}

/* ---------------------------------------------------------------------- elements */

static void write_text(mbg__json_writer *w, const char *key, const char *text) {
  mbg__json_key(w, key);
  mbg__json_string(w, text);
}

static void write_table(mbg__json_writer *w, const char *name, int n, const double *time, const double *value) {
  mbg__json_key(w, name);
  mbg__json_begin_object(w);
  mbg__json_key(w, "x");
  mbg__json_numbers(w, time, n);
  mbg__json_key(w, "y");
  mbg__json_numbers(w, value, n);
  write_text(w, "extrapolation", "hold");
  mbg__json_end_object(w);
}

/* slope at sample i of the line through it and its two neighbours on either side */
static double slope(const mbg__criterion *c, int i) {
  const int first = i > 2 ? i - 2 : 0, last = i + 2 < c->nsample ? i + 2 : c->nsample - 1, n = last - first + 1;
  double t = 0, y = 0, tt = 0, ty = 0;
  for (int k = first; k <= last; k++) {
    t += c->time[k] / n;
    y += c->value[k] / n;
  }
  for (int k = first; k <= last; k++) {
    tt += (c->time[k] - t) * (c->time[k] - t);
    ty += (c->time[k] - t) * (c->value[k] - y);
  }
  return ty / tt;
}

static int write_tables(mbg__loader *L, mbg__json_writer *w, const char *name, const target *t,
                        const mbg__criterion *c) {
  char rate[MBG__EXPR_NAME_MAX + 8];
  double *slopes = MBG_TAKE(&L->temp, double, c->nsample);
  if (!slopes) {
    return mbg__fail_memory(L->ctx);
  }
  write_table(w, name, c->nsample, c->time, c->value);
  for (int i = 0; i < c->nsample; i++) {
    slopes[i] = slope(c, i);
  }
  if (!t->rate) {
    mbg__format(rate, sizeof(rate), "%s_", name);
    write_table(w, rate, c->nsample, c->time, slopes);
  }
  return MBG_OK;
}

static void write_force(const mbg__loader *L, mbg__json_writer *w, const char *name, const target *t,
                        const mbg__criterion *c) {
  const double tau = (c->time[c->nsample - 1] - c->time[0]) / 10, size = t->angle ? L->tracking.size : 1;
  const double m = L->tracking.mass * size * size, gain = L->tracking.gain;
  char law[512];
  if (t->rate) {
    mbg__format(law, sizeof(law), "%.17g*(%s(t) - v)", gain * m / tau, name);
  } else {
    mbg__format(law, sizeof(law), "%.17g*(%s(t) - x) + %.17g*(%s_(t) - v)", gain * m / (tau * tau), name,
                2 * sqrt(gain) * m / tau, name);
  }
  mbg__json_key(w, name);
  mbg__json_begin_object(w);
  write_text(w, "type", "actuator");
  if (t->joint) {
    write_text(w, "joint", t->joint);
  } else {
    mbg__json_key(w, "between");
    mbg__json_begin_array(w);
    mbg__json_string(w, t->A);
    mbg__json_string(w, t->B);
    mbg__json_end_array(w);
    write_text(w, "along", t->along);
  }
  if (t->coordinate) {
    write_text(w, "coordinate", t->coordinate);
  }
  write_text(w, "force", law);
  mbg__json_end_object(w);
}

/* adds the members of `more` to the section of that name, which may not be there yet */
static void splice(mbg__json *root, mbg__json *more) {
  mbg__json *section = (mbg__json *)mbg__json_member(root, more->key); /* owned by the loader, not shared yet */
  mbg__json **end = section ? &section->child : &root->child;
  while (*end) {
    end = &(*end)->next;
  }
  *end = section ? more->child : more;
  if (section) {
    section->count += more->count;
  } else {
    root->count++;
  }
}

/* ---------------------------------------------------------------------- all criteria */

/* one pass over the tracked criteria: their tables (forces false) or their forces */
static int write_section(mbg__loader *L, mbg__json_writer *w, bool forces, int *count) {
  int err = MBG_OK;
  const mbg__json *root = L->sources.at[0]->root, *list = mbg__json_member(root, "criteria");
  mbg__json_key(w, forces ? "forces" : "tables");
  mbg__json_begin_object(w);
  for (const mbg__json *c = list ? list->child : NULL; c; c = c->next) {
    const char *signal = text_of(c, "least_squares", NULL);
    const mbg__json *of = signal ? mbg__json_member(mbg__json_member(root, "signals"), signal) : NULL;
    char name[MBG__EXPR_NAME_MAX + 8];
    mbg__item item;
    mbg__criterion data = {0};
    target t;
    if (!of || mbg__run_leaves_out(L, c) || !find_target(of, &t)) {
      continue;
    }
    MBG_TRY(mbg__item_make(L, L->sources.at[0], c, "", &item));
    item.name = c->key;
    MBG_TRY(mbg__item_samples(&item, &data));
    if (item.bad || data.nsample < 2) {
      continue;
    }
    mbg__format(name, sizeof(name), "track_%.*s", MBG__EXPR_NAME_MAX - 10, c->key);
    if (forces) {
      write_force(L, w, name, &t, &data);
    } else {
      MBG_TRY(write_tables(L, w, name, &t, &data));
    }
    ++*count;
  }
done:
  mbg__json_end_object(w);
  return err;
}

int mbg__load_tracking(mbg__loader *L) {
  int err = MBG_OK, count = 0;
  mbg__json *more = NULL;
  mbg__json_writer w;
  const char *text;
  size_t length;
  if (!(L->tracking.gain > 0)) {
    return MBG_OK;
  }
  mbg__json_writer_init(&w, L->ctx, false);
  mbg__json_begin_object(&w);
  MBG_TRY(write_section(L, &w, false, &count));
  MBG_TRY(write_section(L, &w, true, &count));
  mbg__json_end_object(&w);
  MBG_TRY(mbg__json_writer_finish(&w, &text, &length));
  MBG_TRY(mbg__json_parse(L->ctx, &L->temp, "tracking", text, length, &more));
  L->ntracked = count / 2;
  for (mbg__json *section = more->child, *next; section; section = next) {
    next = section->next;
    section->next = NULL;
    if (section->child) {
      splice((mbg__json *)L->sources.at[0]->root, section);
    }
  }
done:
  mbg__json_writer_destroy(&w);
  return err;
}
