/* mbgrad: exact gradients of multibody simulations. Everything that is public. */
#ifndef MBGRAD_MBGRAD_H
#define MBGRAD_MBGRAD_H

#include "mbgrad/check.h"
#include "mbgrad/context.h"
#include "mbgrad/control.h"
#include "mbgrad/ensemble.h"
#include "mbgrad/error.h"
#include "mbgrad/export.h"
#include "mbgrad/hessian.h"
#include "mbgrad/identify.h"
#include "mbgrad/import.h"
#include "mbgrad/linearize.h"
#include "mbgrad/model.h"
#include "mbgrad/modes.h"
#include "mbgrad/optimize.h"
#include "mbgrad/proof.h"
#include "mbgrad/ranks.h"
#include "mbgrad/records.h"
#include "mbgrad/run.h"
#include "mbgrad/uncertainty.h"
#include "mbgrad/version.h"
#include "mbgrad/view.h"

#endif
