#include "export/export.h"

#include <string.h>

static const mbg_export_options defaults = {.size = sizeof(mbg_export_options), .format = "urdf"};

void mbg_export_options_default(mbg_export_options *options, size_t size) {
  mbg__options_default(options, size, &defaults, sizeof(defaults));
}

static int take_format(mbg_context *ctx, const char *format, bool *mjcf) {
  static const char *const known[] = {"urdf", "mjcf"};
  char hint[100];
  *mjcf = format && !strcmp(format, "mjcf");
  if (!format || *mjcf || !strcmp(format, "urdf")) {
    return MBG_OK;
  }
  mbg__known(hint, sizeof(hint), format, known, 2);
  return mbg__fail(ctx, MBG_ERROR_INPUT, "unknown format '%.40s' of an export%s", format, hint);
}

int mbg_export_text(mbg_context *ctx, const mbg_model *model, const double *p, const mbg_export_options *options,
                    char **text, char **report) {
  MBG_NEED(ctx, ctx && model && text && report);
  mbg_export_options o = defaults;
  mbg__export x = {0};
  mbg__arena arena;
  mbg__report lines;
  mbg__buffer out;
  bool mjcf;
  int err = MBG_OK;
  *text = *report = NULL;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  mbg__report_init(&lines, ctx, &arena, model->file);
  mbg__robot_init(&x.robot, ctx, &arena, &lines, model->file);
  mbg__buffer_init(&out, ctx);
  MBG_TRY(mbg__options_take(ctx, "export", options, &o, sizeof(o)));
  MBG_TRY(take_format(ctx, o.format, &mjcf));
  MBG_TRY(mbg__export_read(ctx, &arena, &lines, model, p, &x));
  if (o.into) {
    MBG_TRY(mbg__export_into(ctx, &arena, &x, o.into, &out));
  } else if (mjcf) {
    MBG_TRY(mbg__export_mjcf(&x, &out));
  } else {
    MBG_TRY(mbg__export_urdf(&x, &out));
  }
  MBG_TRY(mbg__buffer_hand_over(&out, text));
  err = mbg__report_text(&lines, report);
done:
  if (err < 0) {
    mbg_text_destroy(ctx, *text);
    *text = NULL;
  }
  mbg__buffer_destroy(&out);
  mbg__robot_destroy(&x.robot);
  mbg__report_destroy(&lines);
  mbg__arena_destroy(&arena);
  return err;
}
