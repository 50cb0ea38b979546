/* view_picture: pictures of a mechanism, still (SVG, PNG, PDF) or moving (SVG, and by ffmpeg GIF and MP4). */
#ifndef CLI_VIEW_PICTURE_H
#define CLI_VIEW_PICTURE_H

#include "mbgrad/view.h"
#include "run_options.h"

/* Options of the command line: --picture, --film, --at. */
#define CLI_OPTIONS_PICTURE                                                                                            \
  {"picture", "FILE", CLI_FILE_OUT, "write a still picture: .svg, .png, .pdf; %03d in the name: --frames of them"},    \
      {"film", "FILE", CLI_FILE_OUT, "write a picture that moves: .svg, by ffmpeg .gif and .mp4; --frames: 30"},       \
      {"at", "SECONDS", false, "with --picture: at this time; default: the start"}, {                                  \
    "eye", "AZIMUTH,ELEVATION", false, "of pictures: the direction to look from, in degrees"                           \
  }

/* Are the names and numbers possible? Before the simulation. */
int cli_pictures_check(const cli_args *args);
/* Is any of them asked for? */
bool cli_pictures_wanted(const cli_args *args);
/* Writes them, after the simulation. */
int cli_pictures_write(const cli_args *args, cli_run *r);

#endif
