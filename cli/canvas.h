/* canvas: lines, marks and texts of a picture, as SVG, PNG or PDF. Everything that draws draws here. */
#ifndef CLI_CANVAS_H
#define CLI_CANVAS_H

#include <stdbool.h>
#include <stdio.h>

/* ---------------------------------------------------------------------- pictures */

typedef struct cli_canvas cli_canvas;

/* Can a picture of this name be written? By its ending: .svg; .png and .pdf in a program with cairo. Says so if not;
   what: "--plot". */
int cli_picture_path(const char *what, const char *path);

/* A picture of this size in pixels; NULL with a message when the file cannot be opened, for which the exit status is
   CLI_FAILED. close puts it in its place: CLI_DONE, or CLI_FAILED with a message. */
cli_canvas *cli_canvas_open(const char *path, double width, double height, const char *title);
int cli_canvas_close(cli_canvas *canvas);

/* The same inside another document: an <svg> element; finish does not close the file. */
cli_canvas *cli_canvas_inside(FILE *file, double width, double height, const char *title);
void cli_canvas_finish(cli_canvas *canvas);

/* Everything after this is moved by (x, y); 0, 0: back. */
void cli_canvas_shift(cli_canvas *canvas, double x, double y);

/* ---------------------------------------------------------------------- lines */

typedef struct {
  const char *kind;   /* class in SVG files, or NULL */
  const char *colour; /* "#0072b2" */
  double width;
  const char *dash; /* lengths: "6 4"; NULL: none */
  bool round;       /* ends and corners */
  bool fill;        /* an area of this colour instead of a line */
} cli_pen;

/* A path: pieces that begin by move and go on by line. */
void cli_canvas_begin(cli_canvas *canvas, const cli_pen *pen);
void cli_canvas_move(cli_canvas *canvas, double x, double y);
void cli_canvas_line(cli_canvas *canvas, double x, double y);
void cli_canvas_end(cli_canvas *canvas);
/* One straight line; a rectangle that is filled. */
void cli_canvas_stroke(cli_canvas *canvas, const cli_pen *pen, double x1, double y1, double x2, double y2);
void cli_canvas_box(cli_canvas *canvas, double x, double y, double width, double height, const char *colour);

/* A line whose ends move: n positions (x1, y1, x2, y2) over a period, the last one equal to the first. Files that
   cannot move show the first. */
void cli_canvas_swing(cli_canvas *canvas, const cli_pen *pen, int n, const double (*xy)[4], double seconds);

/* ---------------------------------------------------------------------- marks */

enum { CLI_MARKS = 7 }; /* circle, square, diamond, triangles, cross, plus */
void cli_canvas_mark(cli_canvas *canvas, double x, double y, double radius, int shape, const char *colour);

/* ---------------------------------------------------------------------- texts */

/* What follows this character is raised, as an exponent. */
#define CLI_RAISED "\001"

typedef struct {
  double size;
  int anchor; /* x is -1: the left end, 0: the middle, 1: the right end */
  bool bold, upwards;
  const char *colour;
} cli_font;

void cli_canvas_text(cli_canvas *canvas, double x, double y, const cli_font *font, const char *text);
/* About how wide it is, with any common font at most. */
double cli_text_width(const char *text, double size);

/* Text as SVG and HTML have it. */
void cli_svg_text(FILE *file, const char *text);

#endif
