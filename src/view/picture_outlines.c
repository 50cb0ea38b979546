/* Curves as lines, cams and faces as areas, surfaces as thin lines behind the mechanism. */
#include "view/picture.h"

#include <math.h>

enum { GROUND = 0xc6cdd8 };

/* `count` points of an outline from `first` on, with the marker */
static void place(mbg_picture *p, const mbg__outline *o, int first, int count, mbg__drawing *f) {
  for (int i = 0; f && i < p->n; i++) {
    double H[12];
    mbg__scene_marker(&p->scene, p->run, p->node[i], o->marker, H);
    mbg__picture_marker(p, o->marker, i, H + 9);
    for (int k = 0; k < count; k++) {
      const double *x = mbg__outline_point(o, first + k);
      for (int c = 0; c < 3; c++) {
        f->world[i * count + k][c] = H[9 + c] + H[3 * c] * x[0] + H[3 * c + 1] * x[1] + H[3 * c + 2] * x[2];
      }
    }
  }
}

static void line(mbg_picture *p, const mbg__outline *o) {
  const int body = p->scene.m->markers[o->marker].body, count = o->n + o->closed;
  mbg__drawing *f = mbg__picture_add(p, MBG_FIGURE_LINE, count, body);
  if (f) {
    f->figure.stroke = mbg__picture_color(body);
    f->size = 2 * o->thick;
    place(p, o, 0, count, f);
  }
}

static void plate(mbg_picture *p, const mbg__outline *o) {
  const int body = p->scene.m->markers[o->marker].body, color = mbg__picture_color(body);
  mbg__drawing *f = mbg__picture_add(p, MBG_FIGURE_AREA, o->n, body);
  if (f) {
    f->figure.stroke = mbg__picture_mix(color, 0x2b3340, 0.35);
    f->figure.fill = mbg__picture_mix(color, 0xffffff, 0.55);
    f->figure.width = 1.5;
    place(p, o, 0, o->n, f);
  }
}

static void grid(mbg_picture *p, const mbg__outline *o) {
  const int body = p->scene.m->markers[o->marker].body;
  for (int i = 0, first = 0; i < o->nline; first += o->count[i++]) {
    mbg__drawing *f = mbg__picture_add(p, MBG_FIGURE_LINE, o->count[i], body);
    if (f) {
      f->figure.stroke = GROUND;
      f->figure.width = 1;
      f->behind = 1;
      place(p, o, first, o->count[i], f);
    }
  }
}

void mbg__picture_outlines(mbg_picture *p) {
  for (int i = 0; i < p->outlines.count; i++) {
    const mbg__outline *o = &p->outlines.at[i];
    (o->kind == MBG__OUTLINE_GRID ? grid : o->kind == MBG__OUTLINE_PLATE ? plate : line)(p, o);
  }
}
