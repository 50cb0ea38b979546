/* scene_json: a scene and its results as JSON, for the page (web/src reads it). */
#ifndef MBG_VIEW_SCENE_JSON_H
#define MBG_VIEW_SCENE_JSON_H

#include "io/json_write.h"
#include "mbgrad/run.h"
#include "view/scene.h"

/* Members of an open object: names, bodies, shapes, joints, links, beams, modal bodies. */
void mbg__scene_json(mbg__json_writer *w, const mbg__scene *scene);

/* Parameters, criteria (psi: NULL without) and their gradient (NULL without) of the run. */
void mbg__scene_json_results(mbg__json_writer *w, const mbg_model *model, const double *p, const double *psi,
                             const double *gradient);

#endif
