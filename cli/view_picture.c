#include "view_picture.h"

#include "files.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 30, MOST = 10000 };

/* ---------------------------------------------------------------------- SVG */

/* points of a frame as an attribute has them */
static void put_points(FILE *f, const mbg_figure *g, int frame) {
  const double *at = g->at + 2 * (size_t)frame * (size_t)g->points;
  for (int k = 0; k < g->points; k++) {
    fprintf(f, k > 0 ? " %.1f,%.1f" : "%.1f,%.1f", at[2 * k], at[2 * k + 1]);
  }
}

static bool moves(const mbg_figure *g, int frames, int first, int count) {
  for (int i = 1; i < frames; i++) {
    for (int k = first; k < first + count; k++) {
      if (fabs(g->at[2 * i * g->points + k] - g->at[k]) >= 0.05) {
        return true;
      }
    }
  }
  return false;
}

/* one coordinate over time; seconds: of the whole motion */
static void animate_number(FILE *f, const mbg_figure *g, int frames, int k, const char *name, double seconds) {
  if (!moves(g, frames, k, 1)) {
    return;
  }
  fprintf(f, "<animate attributeName=\"%s\" dur=\"%gs\" repeatCount=\"indefinite\" values=\"", name, seconds);
  for (int i = 0; i < frames; i++) {
    fprintf(f, i > 0 ? ";%.1f" : "%.1f", g->at[2 * i * g->points + k]);
  }
  fputs("\"/>", f);
}

static void animate_points(FILE *f, const mbg_figure *g, int frames, double seconds) {
  if (!moves(g, frames, 0, 2 * g->points)) {
    return;
  }
  fprintf(f, "<animate attributeName=\"points\" dur=\"%gs\" repeatCount=\"indefinite\" values=\"", seconds);
  for (int i = 0; i < frames; i++) {
    fputs(i > 0 ? ";" : "", f);
    put_points(f, g, i);
  }
  fputs("\"/>", f);
}

static void put_colours(FILE *f, const mbg_figure *g) {
  if (g->kind != MBG_FIGURE_LINE) {
    fprintf(f, g->fill < 0 ? " fill=\"none\"" : " fill=\"#%06x\"", (unsigned)g->fill);
  }
  if (g->stroke >= 0) {
    fprintf(f, " stroke=\"#%06x\" stroke-width=\"%.3g\"", (unsigned)g->stroke, g->width);
  }
}

/* from frame `first` on */
static void put_figure(FILE *f, const mbg_figure *whole, int first, int frames, double seconds) {
  static const char *const ends[4] = {"x1", "y1", "x2", "y2"};
  mbg_figure g = *whole;
  g.at += 2 * (size_t)first * (size_t)g.points;
  if (g.kind == MBG_FIGURE_CIRCLE) {
    fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.3g\"", g.at[0], g.at[1], g.radius);
    put_colours(f, &g);
    fputs(">", f);
    animate_number(f, &g, frames, 0, "cx", seconds);
    animate_number(f, &g, frames, 1, "cy", seconds);
    fputs("</circle>\n", f);
  } else if (g.kind == MBG_FIGURE_LINE && g.points == 2) {
    fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"", g.at[0], g.at[1], g.at[2], g.at[3]);
    put_colours(f, &g);
    fputs(">", f);
    for (int k = 0; k < 4; k++) {
      animate_number(f, &g, frames, k, ends[k], seconds);
    }
    fputs("</line>\n", f);
  } else {
    const char *name = g.kind == MBG_FIGURE_LINE ? "polyline" : "polygon";
    fprintf(f, "<%s points=\"", name);
    put_points(f, &g, 0);
    fputs("\"", f);
    put_colours(f, &g);
    fputs(">", f);
    animate_points(f, &g, frames, seconds);
    fprintf(f, "</%s>\n", name);
  }
}

/* short motions last 4 s, long ones 12 s */
static double film_seconds(const mbg_picture *p) {
  const double span = mbg_picture_frame_time(p, mbg_picture_frame_count(p) - 1) - mbg_picture_frame_time(p, 0);
  return span < 2 ? 4 : span > 12 ? 12 : round(span);
}

static void put_svg(FILE *f, const mbg_picture *p, const char *title, int first, int frames) {
  const double w = mbg_picture_width(p), h = mbg_picture_height(p);
  fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n", w,
          h, w, h);
  fputs("<title>", f);
  for (const char *c = title; *c; c++) {
    fputs(*c == '<' ? "&lt;" : *c == '&' ? "&amp;" : (const char[]){*c, 0}, f);
  }
  fprintf(f, "</title>\n<rect width=\"%.0f\" height=\"%.0f\" rx=\"8\" fill=\"#fff\"/>\n", w, h);
  fputs("<g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n", f);
  for (int i = 0; i < mbg_picture_figure_count(p); i++) {
    put_figure(f, mbg_picture_figure(p, i), first, frames, film_seconds(p));
  }
  fputs("</g>\n</svg>\n", f);
}

static int write_svg(const mbg_picture *p, const char *title, const char *path, int first, int frames) {
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  put_svg(f, p, title, first, frames);
  return cli_file_close(f, path);
}

/* ---------------------------------------------------------------------- options */

/* the place of %d, %3d or %03d in a name; NULL: none */
static const char *number_in(const char *path, int *digits) {
  for (const char *at = strchr(path, '%'); at; at = strchr(at + 1, '%')) {
    char *end;
    const long n = strtol(at + 1, &end, 10);
    if (*end == 'd' && n >= 0 && n < 10) {
      *digits = (int)n;
      return at;
    }
  }
  return NULL;
}

static char *numbered(const char *path, int number) {
  int digits = 0;
  const char *at = number_in(path, &digits);
  return cli_format("%.*s%0*d%s", (int)(at - path), path, digits, number, strchr(at, 'd') + 1);
}

static int check_ending(const char *option, const char *path) {
  const char *dot = path ? strrchr(path, '.') : NULL;
  if (!path || (dot && !strcmp(dot, ".svg"))) {
    return CLI_DONE;
  }
  return cli_bad_input("--%s: '%s': pictures are SVG files; write a name that ends in .svg, which browsers show",
                       option, path);
}

static int take_number(const char *option, const char *text, char end, double *value, const char **rest) {
  char *stop;
  *value = strtod(text, &stop);
  *rest = stop + 1;
  return stop != text && *stop == end && isfinite(*value)
             ? CLI_DONE
             : cli_bad_input("--%s: '%s' is not %s", option, text, end ? "two numbers: 30,20" : "a number");
}

static int take_options(const cli_args *args, mbg_picture_options *o, int *frames) {
  const char *at = cli_value(args, "at", 0), *eye = cli_value(args, "eye", 0), *rest;
  mbg_picture_options_default(o, sizeof(*o));
  *frames = FRAMES;
  int status = cli_count(args, "frames", frames);
  if (status == CLI_DONE && (cli_pictures_wanted(args)) && *frames > MOST) {
    status = cli_bad_input("--frames: %d pictures are too many; at most %d", *frames, MOST);
  }
  status = status == CLI_DONE && at ? take_number("at", at, 0, &o->time, &rest) : status;
  if (status == CLI_DONE && eye) {
    status = take_number("eye", eye, ',', &o->azimuth, &rest);
    status = status == CLI_DONE ? take_number("eye", rest, 0, &o->elevation, &rest) : status;
  }
  return status;
}

bool cli_pictures_wanted(const cli_args *args) {
  return cli_value(args, "picture", 0) != NULL || cli_value(args, "film", 0) != NULL;
}

int cli_pictures_check(const cli_args *args) {
  mbg_picture_options o;
  int frames;
  int status = check_ending("picture", cli_value(args, "picture", 0));
  status = status == CLI_DONE ? check_ending("film", cli_value(args, "film", 0)) : status;
  return status == CLI_DONE ? take_options(args, &o, &frames) : status;
}

/* ---------------------------------------------------------------------- files */

/* several: all frames; else one, or a film of all of them */
static int write_one(cli_run *r, const mbg_picture_options *o, const char *path, bool several) {
  mbg_picture *picture = NULL;
  const char *title = mbg_model_name(r->session.model);
  int status = cli_run_status(r, mbg_picture_create(r->session.ctx, r->run, o, &picture));
  if (status == CLI_DONE && !several) {
    status = write_svg(picture, title, path, 0, o->frames);
  }
  for (int i = 0; several && i < o->frames && status == CLI_DONE; i++) {
    char *name = numbered(path, i + 1);
    status = write_svg(picture, title, name, i, 1);
    free(name);
  }
  mbg_picture_destroy(picture);
  return status;
}

int cli_pictures_write(const cli_args *args, cli_run *r) {
  const char *picture = cli_value(args, "picture", 0), *film = cli_value(args, "film", 0);
  mbg_picture_options o;
  int frames, digits, status = take_options(args, &o, &frames);
  if (status == CLI_DONE && film) {
    o.frames = frames;
    status = write_one(r, &o, film, false);
  }
  if (status == CLI_DONE && picture) {
    const bool several = number_in(picture, &digits) != NULL;
    o.frames = several ? frames : 1;
    status = write_one(r, &o, picture, several);
  }
  return status;
}
