/* Modal bodies of a random model: invariants of random lumps of mass with random shapes, or a generated beam. Other
   elements take them as they take rigid bodies; a marker on lumps says which node it moves with. */
#include "support/random_internal.h"

#include <string.h>

enum { LUMPS = 8, MODES = 4 };

/* lumps with their shapes; sums over them are the invariants */
typedef struct {
  int n;
  double m[LUMPS], s[LUMPS][3], phi[MODES][LUMPS][3];
} lumps;

static void random_vector(rm_gen *g, bool flat, double size, double x[3]) {
  support_normals(&g->rng, x, 3);
  v3_scale(x, size, x);
  x[2] = flat ? 0 : x[2];
}

static void make_lumps(rm_gen *g, double mass, bool flat, lumps *l) {
  l->n = 1 + support_index(&g->rng, MODES);
  for (int i = 0; i < LUMPS; i++) {
    l->m[i] = mass / LUMPS;
    random_vector(g, flat, 0.3, l->s[i]);
    for (int j = 0; j < l->n; j++) {
      random_vector(g, flat, 0.4, l->phi[j][i]);
    }
  }
}

/* sum of m (a.b 1 - b a^T) with a = u_i, b = v_i: u~^T v~ */
static void tensor(const lumps *l, const double (*u)[3], const double (*v)[3], double T[9]) {
  m3_zero(T);
  for (int i = 0; i < LUMPS; i++) {
    const double uv = v3_dot(u[i], v[i]);
    m3_outer_add(T, -l->m[i], v[i], u[i]);
    for (int k = 0; k < 3; k++) {
      T[4 * k] += l->m[i] * uv;
    }
  }
}

static void cross(const lumps *l, const double (*u)[3], const double (*v)[3], double out[3]) {
  v3_zero(out);
  for (int i = 0; i < LUMPS; i++) {
    v3_cross_add(out, l->m[i], u[i], v[i]);
  }
}

static const char *number(rm_gen *g, double x, bool plain) {
  return plain ? rm_string(g, "%.17g", x) : rm_number(g, x, 0.1 * x);
}

static void put_vector(rm_gen *g, const double x[3], bool plain) {
  rm_put(&g->body, "[%s, ", number(g, x[0], plain));
  rm_put(&g->body, "%s, ", number(g, x[1], plain));
  rm_put(&g->body, "%s]", number(g, x[2], plain));
}

/* one entry: z of a vector or zz of a tensor in the plane, else all of it */
static void put_axial(rm_gen *g, const double x[3], bool flat, bool plain) {
  if (flat) {
    rm_put(&g->body, "%s", number(g, x[2], plain));
  } else {
    put_vector(g, x, plain);
  }
}

static void put_tensor(rm_gen *g, const double T[9], bool flat, bool plain) {
  if (flat) {
    rm_put(&g->body, "%s", number(g, T[8], plain));
    return;
  }
  for (int i = 0; i < 3; i++) {
    rm_put(&g->body, "%s", i ? ", " : "[");
    put_vector(g, T + 3 * i, plain);
  }
  rm_put(&g->body, "]");
}

static const char *separator(int k, int n) { return k + 1 < n ? ", " : "]"; }

static void put_pairs(rm_gen *g, const lumps *l, const char *key, bool flat) {
  const bool I5 = strcmp(key, "I5") == 0, I9 = strcmp(key, "I9") == 0;
  rm_put(&g->body, ", \"%s\": [", key);
  for (int j = 0; j < l->n; j++) {
    rm_put(&g->body, "[");
    for (int k = 0; k < l->n; k++) {
      const bool plain = k < j || (I5 && k == j) || (I9 && k == j && !flat);
      double T[9], x[3];
      tensor(l, l->phi[j], l->phi[k], T);
      cross(l, l->phi[j], l->phi[k], x);
      if (I5) {
        put_axial(g, x, flat, plain);
      } else if (I9) {
        put_tensor(g, T, flat, plain);
      } else {
        rm_put(&g->body, "%s", number(g, (T[0] + T[4] + T[8]) / 2, plain));
      }
      rm_put(&g->body, "%s", separator(k, l->n));
    }
    rm_put(&g->body, "%s", separator(j, l->n));
  }
}

static void put_modes(rm_gen *g, const lumps *l, const char *key, bool flat) {
  rm_put(&g->body, ", \"%s\": [", key);
  for (int j = 0; j < l->n; j++) {
    double x[3] = {0}, T[9];
    if (strcmp(key, "I3") == 0) {
      for (int i = 0; i < LUMPS; i++) {
        v3_axpy(x, l->m[i], l->phi[j][i]);
      }
      put_vector(g, x, false);
    } else if (strcmp(key, "I4") == 0) {
      cross(l, l->s, l->phi[j], x);
      put_axial(g, x, flat, false);
    } else {
      tensor(l, l->s, l->phi[j], T);
      put_tensor(g, T, flat, false);
    }
    rm_put(&g->body, "%s", separator(j, l->n));
  }
}

/* K = A^T A + 20 */
static void put_matrix(rm_gen *g, int n, const char *key, double scale) {
  scale *= rm_special(g, RANDOM_STIFF) && strcmp(key, "K") == 0 ? 1e5 : 1;
  double A[MODES * MODES];
  support_normals(&g->rng, A, MODES * MODES);
  rm_put(&g->body, ", \"%s\": [", key);
  for (int j = 0; j < n; j++) {
    rm_put(&g->body, "[");
    for (int k = 0; k < n; k++) {
      double x = j == k ? 20 : 0;
      for (int i = 0; i < MODES; i++) {
        x += 5 * A[MODES * i + j] * A[MODES * i + k];
      }
      rm_put(&g->body, "%s%s", number(g, scale * x, k < j), separator(k, n));
    }
    rm_put(&g->body, "%s", separator(j, n));
  }
}

static void put_nodes(rm_gen *g, int n, bool flat, int nodes) {
  static const char *const keys[] = {"translation", "rotation"};
  rm_put(&g->body, ", \"nodes\": {");
  for (int i = 0; i < nodes; i++) {
    double x[3] = {0};
    if (i > 0 || rm_chance(g, 0.5)) {
      random_vector(g, flat, 0.2, x);
    }
    rm_put(&g->body, "%s\"n%d\": {\"at\": %s", i ? ", " : "", i, rm_vec(g, x, 0.1));
    for (int k = 0; k < 2; k++) {
      rm_put(&g->body, ", \"%s\": [", keys[k]);
      for (int j = 0; j < n; j++) {
        random_vector(g, flat && k == 0, 0.5, x);
        if (flat && k == 1) {
          x[0] = x[1] = 0;
        }
        rm_put(&g->body, "%s%s", rm_vec(g, x, 0.3), separator(j, n));
      }
    }
    rm_put(&g->body, "}");
  }
  rm_put(&g->body, "}");
}

static void put_lumps(rm_gen *g, rm_body *b, bool flat) {
  static const int entry[6] = {0, 4, 8, 1, 2, 5};
  lumps l;
  double x[3] = {0}, T[9];
  make_lumps(g, b->mass, flat, &l);
  rm_put(&g->body, ", \"modes\": %d, \"invariants\": {\"I1\": %s", l.n, rm_number(g, b->mass, 0.2));
  for (int i = 0; i < LUMPS; i++) {
    v3_axpy(x, l.m[i], l.s[i]);
  }
  rm_put(&g->body, ", \"I2\": ");
  put_vector(g, x, false);
  tensor(&l, (const double(*)[3])l.s, (const double(*)[3])l.s, T);
  if (flat) {
    rm_put(&g->body, ", \"I7\": %s", number(g, T[8], false));
  } else {
    rm_put(&g->body, ", \"I7\": [");
    for (int i = 0; i < 6; i++) {
      rm_put(&g->body, "%s%s", number(g, T[entry[i]], false), separator(i, 6));
    }
  }
  put_modes(g, &l, "I3", flat);
  put_modes(g, &l, "I4", flat);
  put_modes(g, &l, "I8", flat);
  put_pairs(g, &l, "I5", flat);
  put_pairs(g, &l, "I6", flat);
  if (!flat || rm_chance(g, 0.5)) {
    put_pairs(g, &l, "I9", flat);
  }
  put_matrix(g, l.n, "K", 1);
  if (!g->opt->conservative && rm_chance(g, 0.5)) {
    put_matrix(g, l.n, "C", 0.01);
  }
  rm_put(&g->body, "}");
  b->modes = l.n;
  put_nodes(g, l.n, flat, b->nodes);
}

static void put_generated(rm_gen *g, rm_body *b, bool flat) {
  static const char *const boundaries[] = {"fixed-free", "pinned", "craig-bampton"};
  const int boundary = support_index(&g->rng, 3), n = 2 + support_index(&g->rng, 3);
  const int least = boundary < 2 ? 1 : flat ? 3 : 6;
  b->modes = least + support_index(&g->rng, 3);
  rm_put(&g->body, ", \"modes\": %d, \"beam\": {\"length\": %s, \"elements\": %d", b->modes, rm_number(g, 0.6, 0.1), n);
  rm_put(&g->body, ", \"boundary\": \"%s\", \"theory\": \"%s\"", boundaries[boundary],
         rm_chance(g, 0.5) ? "timoshenko" : "euler-bernoulli");
  rm_put(&g->body, ", \"section\": %s", rm_section(g, n));
  rm_put(&g->body, ", \"E\": %s, \"nu\": 0.3", rm_series(g, n, rm_special(g, RANDOM_STIFF) ? 1e8 : 1000));
  rm_put(&g->body, ", \"rho\": %s}", rm_series(g, n, 20));
}

/* everything but place and rates */
void rm_put_modal(rm_gen *g, int body) {
  rm_body *b = &g->bodies[body];
  const bool flat = b->motion == RM_PLANAR;
  rm_put(&g->body, "{\"type\": \"modal\"%s", flat ? ", \"motion\": \"planar\"" : "");
  if (b->nodes == 0) {
    put_generated(g, b, flat);
  } else {
    put_lumps(g, b, flat);
  }
  if (!g->opt->conservative && rm_chance(g, 0.6)) {
    const double damping = rm_special(g, RANDOM_STIFF) ? 1e-6 : 0.01;
    rm_put(&g->body, ", \"damping\": %s", rm_number(g, damping, 0.3 * damping));
  }
  if (!g->opt->conservative && rm_chance(g, 0.4)) {
    rm_put(&g->body, ", \"mass_damping\": %s", rm_number(g, 0.3, 0.1));
  }
  static const char *const keys[] = {"deformation", "deformation_rate"};
  for (int k = 0; k < 2 && g->opt->guesses && !rm_special(g, RANDOM_REST | RANDOM_STIFF) && rm_chance(g, 0.5); k++) {
    rm_put(&g->body, ", \"%s\": [", keys[k]);
    for (int j = 0; j < b->modes; j++) {
      rm_put(&g->body, "%s%s", rm_number(g, rm_sign(g, 0, 0.02), 0.02), separator(j, b->modes));
    }
  }
}

void rm_make_modal_signals(rm_gen *g) {
  static const char *const types[] = {"coordinate", "rate", "acceleration"};
  for (int i = 0; i < g->nbody; i++) {
    if (!g->bodies[i].modal) {
      continue;
    }
    for (int k = 0; k < 3; k++) {
      rm_entry(&g->signal, rm_string(g, "%s_%s", g->bodies[i].name, types[k]));
      rm_put(&g->signal, "{\"type\": \"modal-%s\", \"of\": \"%s\", \"mode\": %d}", types[k], g->bodies[i].name,
             support_index(&g->rng, g->bodies[i].modes));
    }
    rm_entry(&g->signal, rm_string(g, "%s_strain", g->bodies[i].name));
    rm_put(&g->signal, "{\"type\": \"strain-energy\", \"of\": \"%s\"}", g->bodies[i].name);
    rm_entry(&g->signal, rm_string(g, "%s_kinetic", g->bodies[i].name));
    rm_put(&g->signal, "{\"type\": \"kinetic-energy\", \"of\": \"%s\"}", g->bodies[i].name);
  }
}
