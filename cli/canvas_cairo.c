#include "canvas_cairo.h"

#ifdef MBG_CAIRO
#include "cli.h"
#include "files.h"
#include "text.h"

#include <cairo-pdf.h>
#include <cairo.h>

#include <stdlib.h>
#include <string.h>

struct cli_cairo {
  cairo_surface_t *surface;
  cairo_t *cr;
  char *name; /* where it is written */
  bool png;
  double scale;
};

/* largest edge of a PNG file that cairo can make */
static const double edge = 32000;

cli_cairo *cli_cairo_open(const char *path, double width, double height) {
  char *name = cli_file_begin(path);
  if (!name) {
    return NULL;
  }
  cli_cairo *c = cli_resize(NULL, 1, sizeof(*c));
  const double longest = width > height ? width : height;
  *c = (cli_cairo){.name = name, .png = cli_ends_with(path, ".png")};
  if (c->png) {
    c->scale = 2 * longest > edge ? edge / longest : 2;
    c->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(c->scale * width), (int)(c->scale * height));
  } else {
    c->scale = 0.75; /* 96 pixels and 72 points are an inch */
    c->surface = cairo_pdf_surface_create(name, c->scale * width, c->scale * height);
    /* the same picture is the same file */
    cairo_pdf_surface_set_metadata(c->surface, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
    cairo_pdf_surface_set_metadata(c->surface, CAIRO_PDF_METADATA_CREATOR, "mbgrad");
  }
  c->cr = cairo_create(c->surface);
  cli_cairo_shift(c, 0, 0);
  return c;
}

int cli_cairo_close(cli_cairo *c, const char *path) {
  bool ok = cairo_status(c->cr) == CAIRO_STATUS_SUCCESS;
  if (c->png) {
    ok = ok && cairo_surface_write_to_png(c->surface, c->name) == CAIRO_STATUS_SUCCESS;
  }
  cairo_destroy(c->cr);
  cairo_surface_finish(c->surface);
  ok = ok && cairo_surface_status(c->surface) == CAIRO_STATUS_SUCCESS;
  cairo_surface_destroy(c->surface);
  const int status = cli_file_end(c->name, path, ok);
  free(c);
  return status;
}

void cli_cairo_shift(cli_cairo *c, double x, double y) {
  cairo_identity_matrix(c->cr);
  cairo_scale(c->cr, c->scale, c->scale);
  cairo_translate(c->cr, x, y);
}

static void take_colour(cli_cairo *c, const char *text) {
  const unsigned long rgb = strtoul(text + 1, NULL, 16);
  cairo_set_source_rgb(c->cr, (double)(rgb >> 16 & 255) / 255, (double)(rgb >> 8 & 255) / 255,
                       (double)(rgb & 255) / 255);
}

void cli_cairo_begin(cli_cairo *c) { cairo_new_path(c->cr); }
void cli_cairo_move(cli_cairo *c, double x, double y) { cairo_move_to(c->cr, x, y); }
void cli_cairo_line(cli_cairo *c, double x, double y) { cairo_line_to(c->cr, x, y); }

void cli_cairo_end(cli_cairo *c, const cli_pen *pen) {
  double lengths[8];
  int n = 0;
  take_colour(c, pen->colour);
  if (pen->fill) {
    cairo_fill(c->cr);
    return;
  }
  for (char *at = (char *)pen->dash, *end; at && *at && n < 8; at = end) {
    lengths[n++] = strtod(at, &end);
  }
  cairo_set_dash(c->cr, lengths, n, 0);
  cairo_set_line_width(c->cr, pen->width);
  cairo_set_line_join(c->cr, pen->round ? CAIRO_LINE_JOIN_ROUND : CAIRO_LINE_JOIN_MITER);
  cairo_set_line_cap(c->cr, pen->round && n == 0 ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
  cairo_stroke(c->cr);
}

void cli_cairo_disc(cli_cairo *c, double x, double y, double radius, const char *colour) {
  take_colour(c, colour);
  cairo_new_path(c->cr);
  cairo_arc(c->cr, x, y, radius, 0, 6.283185307179586);
  cairo_fill(c->cr);
}

static double advance(cli_cairo *c, const char *text) {
  cairo_text_extents_t e;
  cairo_text_extents(c->cr, text, &e);
  return e.x_advance;
}

void cli_cairo_text(cli_cairo *c, double x, double y, const cli_font *font, const char *text, const char *raised) {
  cairo_t *cr = c->cr;
  cairo_save(cr);
  take_colour(c, font->colour);
  cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         font->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_translate(cr, x, y);
  if (font->upwards) {
    cairo_rotate(cr, -1.5707963267948966);
  }
  cairo_set_font_size(cr, 0.75 * font->size);
  const double small = raised ? advance(c, raised) : 0;
  cairo_set_font_size(cr, font->size);
  const double normal = advance(c, text), part = font->anchor < 0 ? 0 : font->anchor > 0 ? 1 : 0.5;
  cairo_move_to(cr, -part * (normal + small), 0);
  cairo_show_text(cr, text);
  if (raised) {
    cairo_set_font_size(cr, 0.75 * font->size);
    cairo_move_to(cr, -part * (normal + small) + normal, -0.38 * font->size);
    cairo_show_text(cr, raised);
  }
  cairo_restore(cr);
}

#else
typedef int cli_cairo_is_missing;
#endif
