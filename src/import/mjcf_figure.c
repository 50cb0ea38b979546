/* What pictures show of MJCF's geoms: those of groups 0 to 2, as its own viewer does. */
#include "import/mjcf.h"

#include <stdio.h>
#include <string.h>

/* an element of that name in <asset> */
static const mbg__xml *find_asset(const mbg__mjcf *m, const char *kind, const char *name) {
  for (const mbg__xml *a = mbg__xml_child(m->root, "asset"); a && name; a = mbg__xml_next(a)) {
    for (const mbg__xml *e = mbg__xml_child(a, kind); e; e = mbg__xml_next(e)) {
      const char *own = mbg__xml_value(e, "name"), *file = mbg__xml_value(e, "file");
      const char *slash = file ? strrchr(file, '/') : NULL, *base = slash ? slash + 1 : file;
      const bool by_file = !own && base && !strncmp(base, name, strlen(name)) && base[strlen(name)] == '.';
      if ((own && !strcmp(own, name)) || by_file) {
        return e;
      }
    }
  }
  return NULL;
}

static int read_color(const mbg__mjcf *m, const mbg__mjcf_element *e, double rgba[4]) {
  const mbg__xml *material = find_asset(m, "material", mbg__mjcf_value(m, e, "material"));
  const int err = mbg__xml_vector(m->robot->ctx, material ? material : e->at, "rgba", 4, rgba);
  return err < 0 ? err : mbg__mjcf_numbers(m, e, "rgba", 4, 4, rgba, NULL);
}

int mbg__mjcf_find_mesh(mbg__mjcf *m, const mbg__mjcf_element *geom, mbg__mjcf_element *mesh, const char **out) {
  const mbg__xml *at = find_asset(m, "mesh", mbg__mjcf_value(m, geom, "mesh"));
  const char *file = mbg__xml_value(at, "file");
  *mesh = (mbg__mjcf_element){.at = at, .tag = "mesh", .class = -1};
  *out = NULL;
  const int err = at ? mbg__mjcf_element_of(m, at, NULL, mesh) : MBG_OK;
  if (err < 0 || !file) {
    return err;
  }
  const size_t room = strlen(file) + (m->meshdir ? strlen(m->meshdir) : 0) + 2;
  char *path = mbg__arena_take(m->robot->arena, room, 1);
  if (!path) {
    return mbg__fail_memory(m->robot->ctx);
  }
  const bool below = m->meshdir && *m->meshdir && file[0] != '/';
  (void)snprintf(path, room, "%s%s%s", below ? m->meshdir : "", below ? "/" : "", file);
  *out = path;
  return MBG_OK;
}

static int read_mesh(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_figure *f) {
  mbg__mjcf_element mesh;
  const int err = mbg__mjcf_find_mesh(m, e, &mesh, &f->file);
  f->size[0] = f->size[1] = f->size[2] = 1;
  return err < 0 || !mesh.at ? err : mbg__mjcf_numbers(m, &mesh, "scale", 3, 3, f->size, NULL);
}

/* contype, conaffinity and the friction of sliding */
static int read_touch(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_touch *out) {
  double type = 1, affinity = 1, friction[3] = {1, 0, 0};
  int err = MBG_OK;
  MBG_TRY(mbg__mjcf_number(m, e, "contype", &type));
  MBG_TRY(mbg__mjcf_number(m, e, "conaffinity", &affinity));
  MBG_TRY(mbg__mjcf_numbers(m, e, "friction", 1, 3, friction, NULL));
  out->type = type >= 0 && type < 4e9 ? (unsigned)type : 0;
  out->affinity = affinity >= 0 && affinity < 4e9 ? (unsigned)affinity : 0;
  out->friction = friction[0] > 0 ? friction[0] : 0;
done:
  return err;
}

int mbg__mjcf_plane(mbg__mjcf *m, const mbg__mjcf_element *e) {
  mbg__robot_plane plane = {0};
  int err = MBG_OK;
  MBG_TRY(mbg__mjcf_frame(m, e, &plane.place));
  MBG_TRY(read_touch(m, e, &plane.touch));
  MBG_TRY(mbg__robot_add_plane(m->robot, &plane));
  mbg__report_add(m->robot->report, e->at, "approximated",
                  "contact with <geom> plane: the weight on one point sinks 1 mm; solref and solimp are not used");
done:
  return err;
}

int mbg__mjcf_geom_figure(mbg__mjcf *m, const mbg__mjcf_element *e, int link) {
  static const char *const words[MBG__ROBOT_FORMS] = {"box", "cylinder", "sphere", "capsule", "mesh"};
  const char *type = mbg__mjcf_value(m, e, "type");
  mbg__robot_figure f = {.link = link, .form = MBG__ROBOT_FORMS, .rgba = {-1, 0, 0, 1}};
  double group = 0;
  int err = MBG_OK;
  type = type ? type : mbg__mjcf_value(m, e, "mesh") ? "mesh" : "sphere";
  MBG_TRY(mbg__mjcf_number(m, e, "group", &group));
  MBG_TRY(read_touch(m, e, &f.touch));
  if (group > 2 && !(m->robot->contacts && (f.touch.type | f.touch.affinity) != 0)) {
    mbg__report_add(m->robot->report, e->at, "left out", "<geom> of groups above 2: shape");
    return MBG_OK;
  }
  for (int form = 0; form < MBG__ROBOT_FORMS; form++) {
    f.form = !strcmp(type, words[form]) ? (mbg__robot_form)form : f.form;
  }
  if (f.form == MBG__ROBOT_MESH) {
    MBG_TRY(read_mesh(m, e, &f));
  } else {
    MBG_TRY(mbg__mjcf_geom_size(m, e, type, f.size));
    for (int i = 0; i < 3; i++) { /* half lengths, but a radius */
      f.size[i] *= f.form == MBG__ROBOT_BOX || i > 0 ? 2 : 1;
    }
  }
  MBG_TRY(mbg__mjcf_frame(m, e, &f.place));
  MBG_TRY(read_color(m, e, f.rgba));
  MBG_TRY(mbg__robot_add_figure(m->robot, e->at, &f));
done:
  return err;
}
