/* Optimizers of libraries that the build does without: which are there, and what is said of the others. */
#include "optimizers/libraries.h"
#include "optimizers/nlp_internal.h"

bool mbg__nlp_available(mbg__nlp_method method) {
  switch (method) {
  case MBG__NLP_IPOPT:
  case MBG__NLP_IPOPT_GN:
  case MBG__NLP_IPOPT_EXACT:
#ifdef MBG_HAS_IPOPT
    return true;
#else
    return false;
#endif
  case MBG__NLP_NLOPT_LBFGS:
  case MBG__NLP_SLSQP:
  case MBG__NLP_MMA:
#ifdef MBG_HAS_NLOPT
    return true;
#else
    return false;
#endif
  default:
    return true;
  }
}

#ifndef MBG_HAS_IPOPT
int mbg__nlp_ipopt(mbg__nlp *w) {
  return mbg__fail(w->ctx, MBG_ERROR_UNSUPPORTED, "optimizer '%s': this mbgrad was built without IPOPT; %s",
                   mbg__nlp_method_name((int)w->opt->method),
                   mbg__nlp_available(MBG__NLP_SLSQP) ? "take slsqp or mma" : "take lbfgs or conlin");
}
#endif

#ifndef MBG_HAS_NLOPT
int mbg__nlp_nlopt(mbg__nlp *w) {
  return mbg__fail(w->ctx, MBG_ERROR_UNSUPPORTED, "optimizer '%s': this mbgrad was built without NLopt; %s",
                   mbg__nlp_method_name((int)w->opt->method),
                   mbg__nlp_available(MBG__NLP_IPOPT) ? "take ipopt, lbfgs or conlin" : "take lbfgs or conlin");
}
#endif
