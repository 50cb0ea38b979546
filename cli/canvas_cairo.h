/* canvas_cairo: pictures as PNG and PDF files by cairo, where the program was built with it. */
#ifndef CLI_CANVAS_CAIRO_H
#define CLI_CANVAS_CAIRO_H

#include "canvas.h"

typedef struct cli_cairo cli_cairo;

/* NULL with a message; PNG files have two pixels for each of the picture. */
cli_cairo *cli_cairo_open(const char *path, double width, double height);
int cli_cairo_close(cli_cairo *c, const char *path);

void cli_cairo_shift(cli_cairo *c, double x, double y);
void cli_cairo_begin(cli_cairo *c);
void cli_cairo_move(cli_cairo *c, double x, double y);
void cli_cairo_line(cli_cairo *c, double x, double y);
void cli_cairo_end(cli_cairo *c, const cli_pen *pen);
void cli_cairo_disc(cli_cairo *c, double x, double y, double radius, const char *colour);
void cli_cairo_text(cli_cairo *c, double x, double y, const cli_font *font, const char *text, const char *raised);

#endif
