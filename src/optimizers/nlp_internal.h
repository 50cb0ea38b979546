/* Shared by the methods: counted evaluations, each point once, the rules that end a search, the best point. */
#ifndef MBG_OPTIMIZERS_NLP_INTERNAL_H
#define MBG_OPTIMIZERS_NLP_INTERNAL_H

#include "optimizers/nlp.h"

/* A point with its values and derivatives. */
typedef struct {
  double *x, *c; /* (n), (m) */
  double *g, *J; /* (n), (m x n) */
  double f;
  int status;             /* 0; 1: it cannot be evaluated */
  bool valued, gradients; /* known */
} mbg__nlp_point;

typedef struct {
  mbg_context *ctx;
  const mbg__nlp_problem *p;
  const mbg__nlp_options *opt;
  mbg__nlp_result *result;
  mbg__arena arena;
  mbg__nlp_point at; /* the last one */
  double *z;         /* x as the method gave it, before it was moved into the bounds (n) */
  double *best_x;    /* (n) */
  double *before;    /* x of the last iteration (n) */
  double *lambda;    /* scratch (m) */
  double recent[11]; /* best feasible values of the last iterations */
  bool started;      /* there is a best point */
  bool stop;         /* result->reason is set: the method shall return */
  int err;           /* fatal */
  double least;      /* error of the conditions that the method has reached so far, by its own measure */
  int since;         /* iterations since then */
} mbg__nlp;

/* Values at z, and gradients; once for each point. 0; 1: not possible here, or stopped. */
int mbg__nlp_values(mbg__nlp *w, const double *z);
int mbg__nlp_derivatives(mbg__nlp *w, const double *z);

/* What a status of `product` means: fatal ones and interruptions end the search. 0, or 1: not possible here. */
int mbg__nlp_product_status(mbg__nlp *w, int status);

double mbg__nlp_violation(const mbg__nlp *w, const double *c);

/* The methods: from best_x on, until they end or w->stop. 0 or a negative status; their reason to end goes into
   result->reason unless w->stop. */
int mbg__nlp_nlopt(mbg__nlp *w);
int mbg__nlp_conlin(mbg__nlp *w);
int mbg__nlp_ipopt(mbg__nlp *w);
int mbg__nlp_descent(mbg__nlp *w);

#endif
