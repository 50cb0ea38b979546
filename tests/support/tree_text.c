#include "support/tree_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  char *text;
  size_t used, room;
  int bodies;
  bool planar, closed;
} writer;

static void add(writer *w, const char *format, ...) {
  va_list list;
  va_start(list, format);
  w->used += (size_t)vsnprintf(w->text + w->used, w->room - w->used, format, list);
  va_end(list);
}

/* the parent of a body, -1: the ground; every sixth body starts a branch three bodies before */
static int parent(int i) { return i % 6 == 5 ? i - 3 : i - 1; }

static void add_ends(writer *w, int i, int other) {
  if (other < 0) {
    add(w, "\"between\": [\"ground\", \"b%d\"]", i);
  } else {
    const int first = i % 4 == 2 ? i : other;
    add(w, "\"between\": [\"b%d\", \"b%d\"]", first, first == i ? other : i);
  }
}

static void add_bodies(writer *w) {
  for (int i = 0; i < w->bodies; i++) {
    add(w, "%s\"b%d\": {\"mass\": \"m*%g\", \"position\": [%d, %g, %g], \"com\": [0.4, 0.1, 0], ", i ? ", " : "", i,
        1 + 0.1 * (i % 7), i, 0.3 * (i % 3), w->planar ? 0 : 0.2 * (i % 4));
    add(w,
        w->planar ? "\"motion\": \"planar\", \"inertia\": 0.3, \"rotate\": [[\"z\", %g]]}"
                  : "\"inertia\": [0.2, 0.3, 0.25], \"rotate\": [[\"x\", %g]]}",
        0.2 * (i % 10));
  }
}

static void add_joints(writer *w) {
  static const char *const types[2][5] = {{"revolute", "spherical", "cylindrical", "prismatic", "revolute"},
                                          {"revolute", "revolute", "prismatic", "revolute", "revolute"}};
  for (int i = 0; i < w->bodies; i++) {
    const char *type = types[w->planar][i % 5];
    add(w, "%s\"j%d\": {\"type\": \"%s\", ", i ? ", " : "", i, type);
    add_ends(w, i, parent(i));
    add(w, ", \"at\": [%d, %g, 0]", i, 0.3 * (i % 3));
    if (type[0] == 'p') {
      add(w, ", \"axis\": [1, 0.5, 0]");
    } else if (type[0] != 's' && !w->planar) {
      add(w, ", \"axis\": [0.3, %d, %d]", i % 2, 1 - i % 2);
    }
    add(w, "}");
  }
  if (w->closed) {
    const int last = w->bodies - 1;
    const double z = w->planar ? 0 : 0.2 * (last % 4);
    add(w, ", \"rod\": {\"type\": \"distance\", \"between\": [\"ground\", \"b%d\"], ", last);
    add(w, "\"points\": [[%d, 3, 0], [0, 0, 0]], \"length\": %.17g}", last, hypot(3 - 0.3 * (last % 3), z));
  }
}

static void add_forces(writer *w) {
  for (int i = 0; i < w->bodies; i++) {
    add(w, "%s\"s%d\": {\"type\": \"spring-damper\", ", i ? ", " : "", i);
    add_ends(w, i, i % 2 ? -1 : parent(i));
    add(w, ", \"points\": [[%g, 1.5, 0.3], [0.5, -0.4, 0]], \"rest\": 1, \"stiffness\": \"k\", \"damping\": \"c\"}",
        i % 2 ? i : 0.2);
  }
}

char *tree_text(int bodies, bool planar, bool closed) {
  const size_t room = 1000 + 600 * (size_t)bodies;
  writer w = {.text = malloc(room), .room = room, .bodies = bodies, .planar = planar, .closed = closed};
  if (!w.text) {
    return NULL;
  }
  add(&w, "{\"mbgrad\": 1, \"parameters\": {\"m\": 1.2, \"k\": 30, \"c\": 0.5}, \"gravity\": [0, -9.81, 0], ");
  add(&w, "\"bodies\": {");
  add_bodies(&w);
  add(&w, "}, \"joints\": {");
  add_joints(&w);
  add(&w, "}, \"forces\": {");
  add_forces(&w);
  add(&w, "}, \"signals\": {\"y\": {\"type\": \"position\", \"of\": \"b%d\", \"component\": \"y\"}, ", bodies - 1);
  add(&w, "\"a\": {\"type\": \"acceleration\", \"of\": \"b%d\", \"component\": \"x\"}}, ", bodies / 2);
  add(&w, "\"criteria\": {\"end\": {\"terminal\": \"y\"}, \"sum\": {\"integral\": \"y^2 + 0.01*a^2\"}}, ");
  add(&w, "\"run\": {\"formulation\": \"ali3p\", \"end\": 0.2, \"step\": 0.01}}");
  return w.text;
}
