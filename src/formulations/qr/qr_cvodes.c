#include "formulations/qr/qr_work.h"
int mbg__qr_cvodes_create(mbg_context *ctx, mbg__formulation_work *w, bool stiff, mbg__qr_cvodes **out) { (void)w; (void)stiff; *out = NULL; return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "no CVODES"); }
void mbg__qr_cvodes_destroy(mbg__qr_cvodes *c) { (void)c; }
int mbg__qr_cvodes_simulate(mbg_context *ctx, mbg__formulation_work *w, bool fixed) { (void)w; (void)fixed; return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "no CVODES"); }
int mbg__qr_cvodes_adjoint(mbg_context *ctx, mbg__formulation_work *w, mbg__qr_adjoint *a, real *y) { (void)w; (void)a; (void)y; return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "no CVODES"); }
