#include "support/random_model.h"

#include "support/random_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

random_model_options random_model_mix(uint64_t seed) {
  return (random_model_options){.kind = (random_kind)(seed % RANDOM_KINDS),
                                .drivers = true,
                                .couplings = true,
                                .pins = true,
                                .guesses = true,
                                .forces = true,
                                .signals = true};
}

void random_model_rows(uint64_t seed, random_model_options *options) {
  const uint64_t turn = seed / (RANDOM_KINDS + 1) % 8;
  options->curves = options->guides = true;
  options->rolling = turn % 2 == 0;
  options->states = turn == 1 || turn == 4;
  options->modal = turn == 2 || turn == 5;
  options->beams = turn == 6;
}

/* ---------------------------------------------------------------------- the file */

static void put_section(rm_text *out, const char *name, rm_text *section) {
  if (section->size > 0) {
    rm_put(out, ",\n  \"%s\": {\n%s\n  }", name, section->at);
  }
  free(section->at);
}

static void put_initial(rm_gen *g, rm_text *out) {
  if (g->guess.size > 0 || g->pin.size > 0) {
    const char *both = g->guess.size > 0 && g->pin.size > 0 ? ",\n" : "";
    rm_put(out, ",\n  \"initial\": {");
    if (g->guess.size > 0) {
      rm_put(out, "\"bodies\": {\n%s\n  }%s", g->guess.at, both);
    }
    if (g->pin.size > 0) {
      rm_put(out, "\"pin\": {\n%s\n  }", g->pin.at);
    }
    rm_put(out, "}");
  }
  free(g->guess.at);
  free(g->pin.at);
}

/* The sections, and with them their memory. */
static char *file_text(rm_gen *g, const char *head) {
  rm_text out = {0};
  rm_put(&out, "{\n  \"mbgrad\": 1%s", head);
  put_section(&out, "parameters", &g->parameters);
  put_section(&out, "constants", &g->constants);
  put_section(&out, "tables", &g->tables);
  put_section(&out, "controls", &g->control);
  put_section(&out, "curves", &g->curve);
  put_section(&out, "bodies", &g->body);
  put_section(&out, "markers", &g->marker);
  put_section(&out, "joints", &g->joint);
  put_section(&out, "drivers", &g->driver);
  put_section(&out, "couplings", &g->coupling);
  put_section(&out, "forces", &g->force);
  put_section(&out, "beams", &g->beam);
  put_section(&out, "signals", &g->signal);
  put_section(&out, "states", &g->state);
  put_section(&out, "criteria", &g->criteria);
  put_initial(g, &out);
  put_section(&out, "parts", &g->parts);
  rm_put(&out, "\n}\n");
  return out.at;
}

static void write_file(const char *folder, const char *name, const char *text) {
  char path[1024];
  const int size = snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_true(size < (int)sizeof path);
  support_write_file(path, text, strlen(text));
}

/* ---------------------------------------------------------------------- contents */

static void make_contents(rm_gen *g) {
  const random_model_options *opt = g->opt;
  rm_make_pool(g);
  if (opt->guides && !g->part) {
    rm_make_ropes(g);
  }
  if (opt->drivers && rm_chance(g, g->part ? 0.5 : 0.7)) {
    rm_make_drivers(g);
  }
  if (opt->couplings && (opt->curves || rm_chance(g, 0.6))) {
    rm_make_couplings(g);
  }
  if (opt->pins && !g->part) {
    rm_make_pins(g);
  }
  if (opt->guesses) {
    rm_make_guesses(g);
  }
  if (opt->signals) {
    rm_make_base_signals(g);
  }
  if (opt->states && !g->part) {
    rm_make_states(g);
  }
  if (opt->forces) {
    rm_make_forces(g);
  }
  if (opt->signals) {
    rm_make_signals(g);
  }
  if (opt->signals) {
    rm_make_modal_signals(g);
  }
  if (opt->signals && rm_special(g, RANDOM_REACTIONS)) {
    rm_make_reactions(g);
  }
  if (opt->states && opt->late && !g->part) {
    rm_make_late_states(g);
  }
  if (opt->beams) {
    rm_make_beams(g);
  }
}

/* a mechanism on a body of the outer file; returns the nominal value of its parameter q1 */
static double make_part(uint64_t seed, const random_model_options *opt) {
  rm_gen *g = calloc(1, sizeof *g);
  assert_non_null(g);
  random_model_options own = *opt;
  own.indifferent = false;
  g->opt = &own;
  g->rng = support_rng_make(seed ^ 0x5bd1e995u);
  g->part = true;
  g->prefix = "q";
  rm_make_names(g);
  rm_make_controls(g);
  rm_make_part_bodies(g);
  make_contents(g);
  char *text = file_text(g, "");
  const double value = g->names[1].value;
  write_file(opt->folder, "part.json", text);
  free(text);
  free(g);
  return value;
}

/* used twice: as it is, and mirrored */
static void use_part(rm_gen *g, double q1) {
  static const char *const axes[] = {"x", "y", "z"};
  const bool flat = g->opt->kind == RANDOM_PLANAR;
  int hub = -1;
  for (int i = 0; i < g->nbody; i++) {
    hub = g->bodies[i].motion == (flat ? RM_PLANAR : RM_SPATIAL) && g->bodies[i].nodes == 0 ? i : hub;
  }
  for (int i = 0; hub >= 0 && i < 2; i++) {
    double w[3] = {0, 0, rm_sign(g, 0.1, 2)}, R[9], x[3];
    if (!flat) {
      support_normals(&g->rng, w, 3);
    }
    mbg__so3_exp(R, w);
    v3_copy(x, g->bodies[hub].H.x);
    x[0] += rm_sign(g, 0.1, 0.5);
    rm_entry(&g->parts, i ? "right" : "left");
    rm_put(&g->parts, "{\"use\": \"part.json\", \"bind\": {\"hub\": \"%s\"}", rm_body_name(g, hub));
    rm_put(&g->parts, ", \"at\": %s", rm_vec(g, x, 0.2));
    rm_put(&g->parts, ", \"rotate\": %s", rm_rotate(g, R));
    if (i == 1) {
      rm_put(&g->parts, ", \"mirror\": \"%s\"", axes[support_index(&g->rng, flat ? 2 : 3)]);
    }
    rm_put(&g->parts, ", \"set\": {\"q1\": %s}}", rm_number(g, q1, 0.5));
  }
}

/* across the plane of a planar model */
static const char *head(rm_gen *g) {
  const bool flat = g->opt->kind == RANDOM_PLANAR || g->opt->kind == RANDOM_MIXED;
  double n[3];
  support_direction(&g->rng, n);
  v3_scale(n, 9.81, n);
  if (rm_special(g, RANDOM_ALIGNED)) {
    v3_zero(n);
    n[support_index(&g->rng, flat ? 2 : 3)] = -9.81;
  }
  n[2] = flat ? 0 : n[2];
  if (rm_special(g, RANDOM_WEIGHTLESS)) {
    v3_zero(n);
  }
  const char *gravity = rm_world_direction(g, n, 1);
  return rm_string(g, ",\n  \"name\": \"random\",\n  \"gravity\": %s,\n  \"run\": {\"end\": 0.5, \"step\": 0.01}",
                   gravity);
}

char *random_model(uint64_t seed, const random_model_options *options) {
  rm_gen *g = calloc(1, sizeof *g);
  assert_non_null(g);
  g->opt = options;
  g->rng = support_rng_make(seed);
  g->prefix = "s";
  rm_make_names(g);
  rm_make_controls(g);
  rm_make_bodies(g);
  if (options->kind == RANDOM_LOOP || (options->kind != RANDOM_TREE && rm_chance(g, 0.6))) {
    rm_close_loops(g);
  }
  if (options->rolling) {
    rm_make_rollers(g);
  }
  if (options->guides) {
    rm_make_guides(g);
  }
  if (options->special & RANDOM_ROTORS) {
    rm_make_rotors(g);
  }
  make_contents(g);
  if (options->signals) {
    rm_make_criteria(g);
  }
  if (options->folder) {
    use_part(g, make_part(seed, options));
  }
  char *text = file_text(g, head(g));
  if (options->folder) {
    write_file(options->folder, "model.json", text);
  }
  free(g);
  return text;
}
