/* Tendons as lines; sheaves are shapes of the scene. */
#include "view/picture.h"
#include "view/rope.h"

enum { ROPE = 0x4a5363, BAND = 0xe0574f };

static void path(mbg_picture *p, int first, int last, int color, double (*place)[12]) {
  const mbg_model *m = p->scene.m;
  const int n = mbg__rope_count(m, first, last);
  int body = -1;
  for (int k = first; k <= last; k++) {
    body = m->markers[m->vias[k].marker].body >= 0 ? m->markers[m->vias[k].marker].body : body;
  }
  mbg__drawing *f = mbg__picture_add(p, MBG_FIGURE_LINE, n, body);
  for (int i = 0; f && i < p->n; i++) {
    for (int k = first; k <= last; k++) {
      mbg__scene_marker(&p->scene, p->run, p->node[i], m->vias[k].marker, place[k - first]);
      mbg__picture_marker(p, m->vias[k].marker, i, place[k - first] + 9);
    }
    mbg__rope_line(&p->scene, first, last, (const double(*)[12])place, f->world + (size_t)i * (size_t)n);
  }
  if (f) {
    f->figure.stroke = color;
    f->figure.width = 2;
  }
}

void mbg__picture_ropes(mbg_picture *p) {
  const mbg_model *m = p->scene.m;
  double(*place)[12] = mbg__arena_take(&p->arena, (size_t)m->nvia + 1, sizeof(*place));
  for (int i = 0; place && i < m->ntendon; i++) {
    const mbg__tendon *t = &m->tendons[i];
    for (int first = t->via, last; first < t->via + t->nvia; first = last + 1) {
      last = mbg__rope_last(m, first);
      path(p, first, last, t->row >= 0 ? ROPE : BAND, place);
    }
  }
}
