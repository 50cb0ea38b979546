#define _XOPEN_SOURCE 700 /* mkdtemp */

#include "view_picture.h"

#include "canvas.h"
#include "files.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* ---------------------------------------------------------------------- PNG and PDF */

static void put_path(cli_canvas *canvas, const mbg_figure *g, const double *at, int points, bool fill) {
  char colour[16];
  const cli_pen pen = {.colour = colour, .width = g->width, .round = true, .fill = fill};
  if ((fill ? g->fill : g->stroke) < 0) {
    return;
  }
  snprintf(colour, sizeof(colour), "#%06x", (unsigned)(fill ? g->fill : g->stroke));
  cli_canvas_begin(canvas, &pen);
  for (int k = 0; k < points; k++) {
    (k > 0 ? cli_canvas_line : cli_canvas_move)(canvas, at[2 * k], at[2 * k + 1]);
  }
  if (g->kind != MBG_FIGURE_LINE) {
    cli_canvas_line(canvas, at[0], at[1]);
  }
  cli_canvas_end(canvas);
}

static void draw_figure(cli_canvas *canvas, const mbg_figure *g, int frame) {
  enum { ROUND = 120 };
  const double *at = g->at + 2 * (size_t)frame * (size_t)g->points;
  double circle[2 * ROUND];
  const bool ring = g->kind == MBG_FIGURE_CIRCLE;
  for (int k = 0; ring && k < ROUND; k++) {
    circle[2 * k] = at[0] + g->radius * cos(2 * acos(-1) * k / ROUND);
    circle[2 * k + 1] = at[1] + g->radius * sin(2 * acos(-1) * k / ROUND);
  }
  if (g->kind != MBG_FIGURE_LINE) {
    put_path(canvas, g, ring ? circle : at, ring ? ROUND : g->points, true);
  }
  put_path(canvas, g, ring ? circle : at, ring ? ROUND : g->points, false);
}

static int write_canvas(const mbg_picture *p, const char *title, const char *path, int frame) {
  cli_canvas *canvas = cli_canvas_open(path, mbg_picture_width(p), mbg_picture_height(p), title);
  if (!canvas) {
    return CLI_FAILED;
  }
  cli_canvas_box(canvas, 0, 0, mbg_picture_width(p), mbg_picture_height(p), "#ffffff");
  for (int i = 0; i < mbg_picture_figure_count(p); i++) {
    draw_figure(canvas, mbg_picture_figure(p, i), frame);
  }
  return cli_canvas_close(canvas);
}

static bool ends_in(const char *path, const char *ending) {
  const char *dot = strrchr(path, '.');
  return dot && !strcmp(dot, ending);
}

static int write_still(const mbg_picture *p, const char *title, const char *path, int frame) {
  return ends_in(path, ".svg") ? write_svg(p, title, path, frame, 1) : write_canvas(p, title, path, frame);
}

/* ---------------------------------------------------------------------- GIF and MP4 */

static int run_ffmpeg(const char *rate, const char *frames, const char *name) {
  const bool gif = ends_in(name, ".gif");
  int state = 0;
  fflush(NULL);
  const pid_t process = fork();
  if (process == 0) {
    char *const arguments[] = {"ffmpeg",
                               "-loglevel",
                               "error",
                               "-y",
                               "-framerate",
                               (char *)rate,
                               "-i",
                               (char *)frames,
                               "-vf",
                               gif ? "scale=iw/2:-1:flags=lanczos,split[a][b];[a]palettegen[p];[b][p]paletteuse"
                                   : "pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p",
                               (char *)name,
                               NULL};
    execvp(arguments[0], arguments);
    _exit(127);
  }
  if (process < 0 || waitpid(process, &state, 0) < 0) {
    return cli_failed("--film: cannot run ffmpeg");
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 127) {
    return cli_failed("--film: ffmpeg is missing, which makes GIF and MP4 files; install it, or write FILE.svg");
  }
  return WIFEXITED(state) && WEXITSTATUS(state) == 0 ? CLI_DONE : cli_failed("--film: ffmpeg failed");
}

static int copy_file(const char *from, const char *path) {
  FILE *in = fopen(from, "rb"), *out = in ? cli_file_open(path) : NULL;
  char block[65536];
  size_t n;
  int status = in ? CLI_FAILED : cli_failed("--film: ffmpeg wrote nothing");
  while (out && (n = fread(block, 1, sizeof(block), in)) > 0) {
    fwrite(block, 1, n, out);
  }
  if (in) {
    fclose(in);
  }
  return out ? cli_file_close(out, path) : status;
}

/* frames as PNG files in a folder of their own, then ffmpeg */
static int write_video(const mbg_picture *p, const char *title, const char *path) {
  const char *top = getenv("TMPDIR");
  char *folder = cli_format("%s/mbgrad-film-XXXXXX", top && *top ? top : "/tmp"), rate[32];
  const int n = mbg_picture_frame_count(p);
  if (!mkdtemp(folder)) {
    const int status = cli_failed("--film: cannot make '%s', a folder for pictures", folder);
    free(folder);
    return status;
  }
  int status = CLI_DONE, done = 0;
  for (; done < n && status == CLI_DONE; done++) {
    char *name = cli_format("%s/%05d.png", folder, done + 1);
    status = write_canvas(p, title, name, done);
    free(name);
  }
  snprintf(rate, sizeof(rate), "%.4g", n / film_seconds(p));
  char *frames = cli_format("%s/%%05d.png", folder), *part = cli_format("%s/film%s", folder, strrchr(path, '.'));
  status = status == CLI_DONE ? run_ffmpeg(rate, frames, part) : status;
  status = status == CLI_DONE ? copy_file(part, path) : status;
  remove(part);
  for (int i = 0; i < done; i++) {
    char *name = cli_format("%s/%05d.png", folder, i + 1);
    remove(name);
    free(name);
  }
  rmdir(folder);
  free(folder);
  free(frames);
  free(part);
  return status;
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

/* films: SVG, and GIF and MP4 where pictures can be PNG files */
static int check_film(const char *path) {
  if (!path || ends_in(path, ".svg")) {
    return CLI_DONE;
  }
  if (!ends_in(path, ".gif") && !ends_in(path, ".mp4")) {
    return cli_bad_input("--film: '%s': films are .svg files, or .gif and .mp4 files by ffmpeg", path);
  }
  return cli_picture_path("--film", "frame.png");
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
  const char *picture = cli_value(args, "picture", 0);
  int status = picture ? cli_picture_path("--picture", picture) : CLI_DONE;
  status = status == CLI_DONE ? check_film(cli_value(args, "film", 0)) : status;
  return status == CLI_DONE ? take_options(args, &o, &frames) : status;
}

/* ---------------------------------------------------------------------- files */

static int write_film(cli_run *r, const mbg_picture_options *o, const char *path) {
  mbg_picture *picture = NULL;
  const char *title = mbg_model_name(r->session.model);
  int status = cli_run_status(r, mbg_picture_create(r->session.ctx, r->run, o, &picture));
  if (status == CLI_DONE) {
    status = ends_in(path, ".svg") ? write_svg(picture, title, path, 0, o->frames) : write_video(picture, title, path);
  }
  mbg_picture_destroy(picture);
  return status;
}

/* one, or numbered ones */
static int write_pictures(cli_run *r, const mbg_picture_options *o, const char *path, bool several) {
  mbg_picture *picture = NULL;
  const char *title = mbg_model_name(r->session.model);
  int status = cli_run_status(r, mbg_picture_create(r->session.ctx, r->run, o, &picture));
  for (int i = 0; i < o->frames && status == CLI_DONE; i++) {
    char *name = several ? numbered(path, i + 1) : cli_copy(path);
    status = write_still(picture, title, name, i);
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
    status = write_film(r, &o, film);
  }
  if (status == CLI_DONE && picture) {
    const bool several = number_in(picture, &digits) != NULL;
    o.frames = several ? frames : 1;
    status = write_pictures(r, &o, picture, several);
  }
  return status;
}
