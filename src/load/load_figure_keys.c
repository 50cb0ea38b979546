/* The keys of figures: "shape" of bodies and markers. */
#include "load/load_keys.h"

const char *const mbg__figure_words[] = {"box", "cylinder", "sphere", "capsule", "cone", "arrow", "mesh"};

#define FIGURE_KEYS                                                                                                    \
  {"type", MBG__SHAPE_NAME, true, NULL, "kind of the shape"},                                                          \
      {"at", MBG__SHAPE_VEC3, false, NULL, "its origin in the axes of the body or marker"},                            \
      {"rotate", MBG__SHAPE_ROTATE, false, NULL, "its rotation"},                                                      \
      {"color", MBG__SHAPE_TEXT, false, NULL, "\"#rrggbb\"; absent: the colour of the body"}, {                        \
    "opacity", MBG__SHAPE_PLAIN, false, NULL, "from 0 (not seen) to 1; 1 when absent"                                  \
  }

static const mbg__file_key box_keys[] = {
    FIGURE_KEYS,
    {"size", MBG__SHAPE_VEC3, true, NULL, "edges along x, y, z; the origin is in the middle"},
};
static const mbg__file_key cylinder_keys[] = {
    FIGURE_KEYS,
    {"radius", MBG__SHAPE_NUMBER, true, NULL, "radius"},
    {"length", MBG__SHAPE_NUMBER, true, NULL, "length along z; the origin is in the middle"},
};
static const mbg__file_key sphere_keys[] = {
    FIGURE_KEYS,
    {"radius", MBG__SHAPE_NUMBER, true, NULL, "radius"},
};
static const mbg__file_key capsule_keys[] = {
    FIGURE_KEYS,
    {"radius", MBG__SHAPE_NUMBER, true, NULL, "radius"},
    {"length", MBG__SHAPE_NUMBER, true, NULL, "distance of the centres of its ends, along z; the origin between them"},
};
static const mbg__file_key cone_keys[] = {
    FIGURE_KEYS,
    {"radius", MBG__SHAPE_NUMBER, true, NULL, "radius of the base"},
    {"length", MBG__SHAPE_NUMBER, true, NULL, "length along z to the tip; the origin is in the middle"},
};
static const mbg__file_key arrow_keys[] = {
    FIGURE_KEYS,
    {"radius", MBG__SHAPE_NUMBER, false, NULL, "radius of its shaft; a fortieth of its length when absent"},
    {"length", MBG__SHAPE_NUMBER, true, NULL, "length along z from the origin"},
};
static const mbg__file_key mesh_keys[] = {
    FIGURE_KEYS,
    {"file", MBG__SHAPE_TEXT, true, NULL, "file of triangles: STL, OBJ, glTF (.stl, .obj, .gltf, .glb)"},
    {"scale", MBG__SHAPE_SAMPLES, false, NULL, "factor of its coordinates, one or three; 0.001 for millimetres"},
};
#define KEYS(list)                                                                                                     \
  { list, MBG_COUNT(list) }

mbg__file_keys mbg__figure_keys(int kind) {
  static const mbg__file_keys keys[] = {KEYS(box_keys),  KEYS(cylinder_keys), KEYS(sphere_keys), KEYS(capsule_keys),
                                        KEYS(cone_keys), KEYS(arrow_keys),    KEYS(mesh_keys)};
  return keys[kind];
}
