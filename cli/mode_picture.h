/* mode_picture: mode shapes as an animated SVG file, or as PNG or PDF. */
#ifndef CLI_MODE_PICTURE_H
#define CLI_MODE_PICTURE_H

#include "mbgrad/modes.h"

/* One panel per mode (the first MODE_PANELS), the mechanism at rest in grey. Browsers play it; other programs show
   the modes at their largest. Returns CLI_DONE, or CLI_FAILED with a message when the file cannot be written. */
enum { MODE_PANELS = 12 };
int cli_mode_picture_write(const char *path, const mbg_modes *modes);

#endif
