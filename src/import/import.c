#include "mbgrad/import.h"

#include "import/robot.h"

#include <string.h>

static const mbg_import_options defaults = {.size = sizeof(mbg_import_options)};

void mbg_import_options_default(mbg_import_options *options, size_t size) {
  mbg__options_default(options, size, &defaults, sizeof(defaults));
}

int mbg__robot_read(mbg__robot *robot, mbg__xml *root) {
  if (!strcmp(root->name, "robot")) {
    return mbg__robot_read_urdf(robot, root);
  }
  if (!strcmp(root->name, "sdf")) {
    return mbg__robot_read_sdf(robot, root);
  }
  if (!strcmp(root->name, "mujoco")) {
    return mbg__robot_read_mjcf(robot, root);
  }
  return mbg__xml_fail(robot->ctx, root, "expected <robot> (URDF), <sdf> or <mujoco> (MJCF)");
}

int mbg_import_file(mbg_context *ctx, const char *path, const mbg_import_options *options, char **model,
                    char **report) {
  MBG_NEED(ctx, ctx && path && model && report);
  mbg_import_options o = defaults;
  mbg__arena arena;
  mbg__report lines;
  mbg__robot robot;
  mbg__xml *root = NULL;
  int err = MBG_OK;
  *model = *report = NULL;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  mbg__report_init(&lines, ctx, &arena, path);
  mbg__robot_init(&robot, ctx, &arena, &lines, path);
  MBG_TRY(mbg__options_take(ctx, "import", options, &o, sizeof(o)));
  MBG_TRY(mbg__xml_read(ctx, &arena, path, &root));
  robot.start = o.start;
  robot.contacts = o.contacts;
  if (o.start && strcmp(root->name, "mujoco") != 0) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "%s: start: only MJCF has keyframes", path);
    goto done;
  }
  if (o.contacts && strcmp(root->name, "mujoco") != 0) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "%s: contacts: only MJCF says what touches what", path);
    goto done;
  }
  MBG_TRY(mbg__robot_read(&robot, root));
  MBG_TRY(mbg__robot_finish(&robot, &o));
  mbg__robot_find_start(&robot);
  MBG_TRY(mbg__robot_write(&robot, &o, model));
  err = mbg__report_text(&lines, report);
done:
  if (err < 0) {
    mbg_text_destroy(ctx, *model);
    *model = NULL;
  }
  mbg__robot_destroy(&robot);
  mbg__report_destroy(&lines);
  mbg__arena_destroy(&arena);
  return err;
}
