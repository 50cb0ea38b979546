#include "canvas.h"

#include "canvas_cairo.h"
#include "cli.h"
#include "files.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cli_canvas {
  char *path;   /* NULL: inside another document */
  FILE *f;      /* SVG, or NULL */
  cli_cairo *c; /* PNG, PDF, or NULL */
  cli_pen pen;  /* of the path at hand */
  bool shifted;
};

#ifdef MBG_CAIRO
#define CAIRO(canvas, call) ((canvas)->c ? ((call), true) : false)
static const bool has_cairo = true;
#else
#define CAIRO(canvas, call) false
static const bool has_cairo = false;
#endif

/* ---------------------------------------------------------------------- pictures */

int cli_picture_path(const char *what, const char *path) {
  const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
  const char *end = dot && (!slash || dot > slash) ? dot : "";
  if (!strcmp(end, ".svg") || !strcmp(path, "-") || !strcmp(path, "/dev/null")) {
    return CLI_DONE;
  }
  if (!strcmp(end, ".png") || !strcmp(end, ".pdf")) {
    return has_cairo ? CLI_DONE
                     : cli_bad_input("%s: '%s': this program was built without cairo and draws SVG files only; write "
                                     "%s %.*s.svg, which browsers show and rsvg-convert or Inkscape turn into %s",
                                     what, path, what, (int)(end - path), path, end + 1);
  }
  if (*end) {
    return cli_bad_input("%s: '%s': pictures end with .svg, .png or .pdf, not with %s", what, path, end);
  }
  return cli_bad_input("%s: '%s': the ending says what is drawn: .svg, .png or .pdf", what, path);
}

static cli_canvas *make(const char *path, FILE *f) {
  cli_canvas *p = cli_resize(NULL, 1, sizeof(*p));
  *p = (cli_canvas){.path = path ? cli_copy(path) : NULL, .f = f};
  return p;
}

static void put_head(FILE *f, double width, double height, const char *title) {
  fprintf(f,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
          "font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>",
          width, height, width, height);
  cli_svg_text(f, title);
  fputs("</title>\n", f);
}

cli_canvas *cli_canvas_inside(FILE *f, double width, double height, const char *title) {
  put_head(f, width, height, title);
  return make(NULL, f);
}

void cli_canvas_finish(cli_canvas *p) {
  cli_canvas_shift(p, 0, 0);
  fputs("</svg>\n", p->f);
  free(p->path);
  free(p);
}

cli_canvas *cli_canvas_open(const char *path, double width, double height, const char *title) {
  cli_canvas *p;
#ifdef MBG_CAIRO
  if (cli_ends_with(path, ".png") || cli_ends_with(path, ".pdf")) {
    cli_cairo *c = cli_cairo_open(path, width, height);
    if (!c) {
      return NULL;
    }
    p = make(path, NULL);
    p->c = c;
    cli_canvas_box(p, 0, 0, width, height, "#ffffff");
    return p;
  }
#endif
  FILE *f = cli_file_open(path);
  if (!f) {
    return NULL;
  }
  put_head(f, width, height, title);
  p = make(path, f);
  cli_canvas_box(p, 0, 0, width, height, "#ffffff");
  return p;
}

int cli_canvas_close(cli_canvas *p) {
  int status;
  FILE *f = p->f;
  char *path = p->path;
#ifdef MBG_CAIRO
  if (p->c) {
    status = cli_cairo_close(p->c, path);
    free(path);
    free(p);
    return status;
  }
#endif
  p->path = NULL;
  cli_canvas_finish(p);
  status = cli_file_close(f, path);
  free(path);
  return status;
}

void cli_canvas_shift(cli_canvas *p, double x, double y) {
  if (CAIRO(p, cli_cairo_shift(p->c, x, y))) {
    return;
  }
  if (p->shifted) {
    fputs("</g>\n", p->f);
  }
  p->shifted = x != 0 || y != 0;
  if (p->shifted) {
    fprintf(p->f, "<g transform=\"translate(%.1f %.1f)\">\n", x, y);
  }
}

/* ---------------------------------------------------------------------- lines */

/* the attributes of an element */
static void put_pen(FILE *f, const cli_pen *pen) {
  if (pen->kind) {
    fprintf(f, " class=\"%s\"", pen->kind);
  }
  if (pen->fill) {
    fprintf(f, " fill=\"%s\"", pen->colour);
    return;
  }
  fprintf(f, " fill=\"none\" stroke=\"%s\" stroke-width=\"%g\"", pen->colour, pen->width);
  if (pen->round) {
    fputs(" stroke-linejoin=\"round\"", f);
    fputs(pen->dash ? "" : " stroke-linecap=\"round\"", f);
  }
  if (pen->dash) {
    fprintf(f, " stroke-dasharray=\"%s\"", pen->dash);
  }
}

void cli_canvas_begin(cli_canvas *p, const cli_pen *pen) {
  p->pen = *pen;
  if (!CAIRO(p, cli_cairo_begin(p->c))) {
    fputs("<path", p->f);
    put_pen(p->f, pen);
    fputs(" d=\"", p->f);
  }
}

void cli_canvas_move(cli_canvas *p, double x, double y) {
  if (!CAIRO(p, cli_cairo_move(p->c, x, y))) {
    fprintf(p->f, "M%.1f %.1f", x, y);
  }
}

void cli_canvas_line(cli_canvas *p, double x, double y) {
  if (!CAIRO(p, cli_cairo_line(p->c, x, y))) {
    fprintf(p->f, "L%.1f %.1f", x, y);
  }
}

void cli_canvas_end(cli_canvas *p) {
  if (!CAIRO(p, cli_cairo_end(p->c, &p->pen))) {
    fputs(p->pen.fill ? "z\"/>\n" : "\"/>\n", p->f);
  }
}

void cli_canvas_stroke(cli_canvas *p, const cli_pen *pen, double x1, double y1, double x2, double y2) {
  cli_canvas_begin(p, pen);
  cli_canvas_move(p, x1, y1);
  cli_canvas_line(p, x2, y2);
  cli_canvas_end(p);
}

void cli_canvas_box(cli_canvas *p, double x, double y, double width, double height, const char *colour) {
  if (p->f) {
    fprintf(p->f, "<rect x=\"%g\" y=\"%g\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x, y, width, height,
            colour);
    return;
  }
  cli_canvas_begin(p, &(cli_pen){.colour = colour, .fill = true});
  cli_canvas_move(p, x, y);
  cli_canvas_line(p, x + width, y);
  cli_canvas_line(p, x + width, y + height);
  cli_canvas_line(p, x, y + height);
  cli_canvas_end(p);
}

void cli_canvas_swing(cli_canvas *p, const cli_pen *pen, int n, const double (*xy)[4], double seconds) {
  static const char *const names[4] = {"x1", "y1", "x2", "y2"};
  if (p->c) {
    cli_canvas_stroke(p, pen, xy[0][0], xy[0][1], xy[0][2], xy[0][3]);
    return;
  }
  fprintf(p->f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"", xy[0][0], xy[0][1], xy[0][2], xy[0][3]);
  put_pen(p->f, pen);
  fputc('>', p->f);
  for (int k = 0; k < 4; k++) {
    fprintf(p->f, "<animate attributeName=\"%s\" dur=\"%gs\" repeatCount=\"indefinite\" values=\"", names[k], seconds);
    for (int i = 0; i < n; i++) {
      fprintf(p->f, "%s%.1f", i > 0 ? ";" : "", xy[i][k]);
    }
    fputs("\"/>", p->f);
  }
  fputs("</line>\n", p->f);
}

/* ---------------------------------------------------------------------- marks */

/* corners around the middle, ended by twice 0; for a cross and a plus the ends of their lines */
static const double corners[CLI_MARKS][10] = {
    {0, 0},
    {-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9, 0, 0},
    {0, -1.25, 1.25, 0, 0, 1.25, -1.25, 0, 0, 0},
    {0, -1.2, 1.1, 0.8, -1.1, 0.8, 0, 0},
    {0, 1.2, 1.1, -0.8, -1.1, -0.8, 0, 0},
    {-0.9, -0.9, 0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0, 0},
    {-1.2, 0, 1.2, 0, 0, -1.2, 0, 1.2, 0, 0},
};

void cli_canvas_mark(cli_canvas *p, double x, double y, double r, int shape, const char *colour) {
  const double *at = corners[shape % CLI_MARKS];
  const bool lines = shape % CLI_MARKS >= 5;
  if (shape % CLI_MARKS == 0) {
    if (!CAIRO(p, cli_cairo_disc(p->c, x, y, r, colour))) {
      fprintf(p->f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\"/>\n", x, y, r, colour);
    }
    return;
  }
  cli_canvas_begin(p, &(cli_pen){.kind = "m", .colour = colour, .fill = !lines, .width = 0.5 * r});
  for (int i = 0; at[i] != 0 || at[i + 1] != 0; i += 2) {
    (i == 0 || (lines && i == 4) ? cli_canvas_move : cli_canvas_line)(p, x + r * at[i], y + r * at[i + 1]);
  }
  cli_canvas_end(p);
}

/* ---------------------------------------------------------------------- texts */

void cli_svg_text(FILE *f, const char *text) {
  for (; *text; text++) {
    switch (*text) {
    case '<':
      fputs("&lt;", f);
      break;
    case '>':
      fputs("&gt;", f);
      break;
    case '&':
      fputs("&amp;", f);
      break;
    case '"':
      fputs("&quot;", f);
      break;
    default:
      fputc((unsigned char)*text < 0x20 ? ' ' : *text, f);
    }
  }
}

/* hundredths of the size, for a wide font */
static int letter_width(unsigned char c) {
  if (strchr("iljI|'.,:;! ", c)) {
    return 34;
  }
  if (strchr("ftr()[]{}/\\-\"", c)) {
    return 42;
  }
  return strchr("mwMW@%+=<>~", c) ? 90 : c >= 'A' && c <= 'Z' ? 72 : 64;
}

double cli_text_width(const char *text, double size) {
  double width = 0, part = 1;
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c == CLI_RAISED[0]) {
      part = 0.75;
    } else if ((*c & 0xc0) != 0x80) { /* once a character */
      width += part * letter_width(*c) / 100;
    }
  }
  return size * width;
}

static void put_words(cli_canvas *p, double x, double y, const cli_font *font, const char *text, const char *raised) {
  static const char *const anchors[] = {"start", "middle", "end"};
  fprintf(p->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%g\" fill=\"%s\"%s", x, y,
          anchors[font->anchor + 1], font->size, font->colour, font->bold ? " font-weight=\"bold\"" : "");
  if (font->upwards) {
    fprintf(p->f, " transform=\"rotate(-90 %.1f %.1f)\"", x, y);
  }
  fputc('>', p->f);
  cli_svg_text(p->f, text);
  if (raised) {
    fprintf(p->f, "<tspan dy=\"%.1f\" font-size=\"%g\">", -0.38 * font->size, 0.75 * font->size);
    cli_svg_text(p->f, raised);
    fputs("</tspan>", p->f);
  }
  fputs("</text>\n", p->f);
}

void cli_canvas_text(cli_canvas *p, double x, double y, const cli_font *font, const char *text) {
  cli_font f = *font;
  f.colour = f.colour ? f.colour : "#222222";
  char *words = cli_copy(text), *raised = strchr(words, CLI_RAISED[0]);
  if (raised) {
    *raised++ = 0;
  }
  for (char *c = words; *c; c++) {
    *c = (unsigned char)*c < 0x20 ? ' ' : *c;
  }
  if (!CAIRO(p, cli_cairo_text(p->c, x, y, &f, words, raised))) {
    put_words(p, x, y, &f, words, raised);
  }
  free(words);
}
