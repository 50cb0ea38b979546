#include "generate.h"

#include <math.h>
#include <string.h>

static const char *const families[] = {"chain", "tree", "ladder"};

bool cli_is_family(const char *name) {
  for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
    if (!strcmp(name, families[i])) {
      return true;
    }
  }
  return false;
}

/* ---------------------------------------------------------------------- pieces of a model */

typedef struct {
  const cli_family_size *size;
  FILE *out;
  bool planar;
} writer;

static const char *comma(int i) { return i > 0 ? "," : ""; }

static void begin(const writer *w, const char *name, const char *note, const char *gravity) {
  fprintf(w->out, "{\n  \"mbgrad\": 1,\n  \"name\": \"%s\",\n  \"note\": \"%s\",\n", name, note);
  fprintf(
      w->out,
      "  \"parameters\": {\n    \"m\": {\"value\": 1, \"count\": %d, \"min\": 0.1, \"max\": 10, \"unit\": \"kg\"},\n",
      w->size->parameters);
  fprintf(w->out, "    \"l\": {\"value\": 1, \"min\": 0.5, \"max\": 2, \"unit\": \"m\"}\n  },\n");
  fprintf(w->out, "  \"gravity\": %s,\n  \"bodies\": {", gravity);
}

/* a rod along its x axis whose frame stands at l (x, y), turned by angle about z */
static void rod(const writer *w, int i, const char *name, double x, double y, double angle) {
  const char *motion = w->planar ? "\"motion\": \"planar\", " : "";
  fprintf(w->out, "%s\n    \"%s\": {%s\"position\": [\"%.12g*l\", \"%.12g*l\", 0], \"rotate\": [[\"z\", %.12g]], ",
          comma(i), name, motion, x, y, angle);
  if (i < w->size->flexible) {
    fprintf(
        w->out,
        "\"type\": \"modal\", \"modes\": 2, \"damping\": 1e-3,\n      \"beam\": {\"length\": \"l\", \"elements\": 4, "
        "\"boundary\": \"fixed-free\", \"E\": 2e9, \"nu\": 0.3, \"rho\": 1000, \"section\": {\"type\": "
        "\"circle\", \"diameter\": 0.04}}}");
    return;
  }
  const int k = i % w->size->parameters;
  if (w->planar) {
    fprintf(w->out, "\"mass\": \"m[%d]\", \"com\": [\"l/2\", 0, 0], \"inertia\": \"m[%d]*l^2/12\"}", k, k);
  } else {
    fprintf(w->out,
            "\"mass\": \"m[%d]\", \"com\": [\"l/2\", 0, 0],\n      \"inertia\": [\"m[%d]*l^2/100\", \"m[%d]*l^2/12\", "
            "\"m[%d]*l^2/12\"]}",
            k, k, k, k);
  }
}

static void joint(const writer *w, int i, const char *name, const char *from, const char *to, double x, double y,
                  int axis) {
  static const char *const axes[] = {"[0, 0, 1]", "[0, 1, 0]"};
  fprintf(w->out,
          "%s\n    \"%s\": {\"type\": \"revolute\", \"between\": [\"%s\", \"%s\"], \"at\": [\"%.12g*l\", \"%.12g*l\", "
          "0]%s%s}",
          comma(i), name, from, to, x, y, w->planar ? "" : ", \"axis\": ", w->planar ? "" : axes[axis]);
}

static void end(const writer *w, const char *tip, const char *component) {
  fprintf(w->out, "\n  },\n  \"markers\": {\"tip\": {\"on\": \"%s\", \"at\": [\"l\", 0, 0]}},\n", tip);
  fprintf(w->out, "  \"signals\": {\"h\": {\"type\": \"position\", \"of\": \"tip\", \"component\": \"%s\"}},\n",
          component);
  fprintf(w->out, "  \"criteria\": {\"drop\": {\"terminal\": \"h\"}, \"path\": {\"integral\": \"h^2\"}},\n");
  fprintf(w->out, "  \"run\": {\"formulation\": \"dca\", \"end\": 0.5, \"step\": 0.001}\n}\n");
}

/* ---------------------------------------------------------------------- families */

static void name_of(char out[32], const char *prefix, int i) { snprintf(out, 32, "%s%d", prefix, i); }

/* rods one after the other, axes across in turn, from the ground */
static int chain(const writer *w) {
  const int n = w->size->bodies;
  char a[32], b[32], j[32];
  begin(w, "chain", "rods one after the other, hinged across in turn", "[0, 0, -9.81]");
  for (int i = 0; i < n; i++) {
    name_of(b, "b", i);
    rod(w, i, b, i, 0, 0);
  }
  fprintf(w->out, "\n  },\n  \"joints\": {");
  for (int i = 0; i < n; i++) {
    name_of(a, "b", i - 1);
    name_of(b, "b", i);
    name_of(j, "j", i);
    joint(w, i, j, i > 0 ? a : "ground", b, i, 0, (i + 1) % 2);
  }
  /* the first rods swing at once; the far end falls freely for a while and would depend on nothing but rounding */
  name_of(b, "b", n > 2 ? 1 : 0);
  end(w, b, "z");
  return n;
}

/* where the tip of rod i of a binary tree is: children turn to both sides, less with each generation */
static void tree_place(int i, double *x, double *y, double *angle) {
  int path[64], depth = 0;
  for (int k = i; k > 0; k = (k - 1) / 2) {
    path[depth++] = k % 2 ? 1 : -1;
  }
  *x = *y = *angle = 0;
  for (int d = depth - 1; d >= 0; d--) {
    *x += cos(*angle);
    *y += sin(*angle);
    *angle += path[d] * 0.6 * pow(0.7, depth - 1 - d);
  }
}

static int tree(const writer *w) {
  const int n = w->size->bodies;
  char a[32], b[32], j[32];
  double x, y, angle;
  begin(w, "tree", "binary tree of rods, hinged across in turn", "[0, 0, -9.81]");
  for (int i = 0; i < n; i++) {
    name_of(b, "b", i);
    tree_place(i, &x, &y, &angle);
    rod(w, i, b, x, y, angle);
  }
  fprintf(w->out, "\n  },\n  \"joints\": {");
  for (int i = 0; i < n; i++) {
    name_of(a, "b", (i - 1) / 2);
    name_of(b, "b", i);
    name_of(j, "j", i);
    tree_place(i, &x, &y, &angle);
    joint(w, i, j, i > 0 ? a : "ground", b, x, y, 1);
  }
  name_of(b, "b", n - 1);
  end(w, b, "z");
  return n;
}

/* two rails that hang from the ground and a rung at each of their joints: one loop and one freedom for each cell */
static int ladder(const writer *w) {
  const int cells = (w->size->bodies + 2) / 3;
  static const char *const rail[] = {"left", "right"};
  const double down = -2 * atan(1);
  char a[32], b[32], r[32], j[32];
  int n = 0;
  begin(w, "ladder", "two hanging rails with rungs between them: a loop in each cell", "[3, -9.81, 0]");
  for (int i = 0; i < cells; i++) {
    for (int side = 0; side < 2; side++, n++) {
      name_of(b, rail[side], i);
      rod(w, n, b, side, -i, down);
    }
    name_of(b, "rung", i);
    rod(w, n++, b, 0, -i - 1, 0);
  }
  fprintf(w->out, "\n  },\n  \"joints\": {");
  for (int i = 0, k = 0; i < cells; i++) {
    name_of(r, "rung", i);
    for (int side = 0; side < 2; side++) {
      name_of(a, rail[side], i - 1);
      name_of(b, rail[side], i);
      snprintf(j, sizeof j, "%s_hinge%d", rail[side], i);
      joint(w, k++, j, i > 0 ? a : "ground", b, side, -i, 0);
      snprintf(j, sizeof j, "%s_end%d", rail[side], i);
      joint(w, k++, j, side ? r : b, side ? b : r, side, -i - 1, 0);
    }
  }
  name_of(b, "rung", cells - 1);
  end(w, b, "x");
  return n;
}

int cli_generate(const char *name, const cli_family_size *size, FILE *out) {
  writer w = {.size = size, .out = out, .planar = !strcmp(name, "ladder")};
  return !strcmp(name, "chain") ? chain(&w) : !strcmp(name, "tree") ? tree(&w) : ladder(&w);
}
