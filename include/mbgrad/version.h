/* mbgrad: version. */
#ifndef MBGRAD_VERSION_H
#define MBGRAD_VERSION_H

#include "mbgrad/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of these headers. */
#define MBG_VERSION "0.1.0"

/* Version of the library that is linked; borrowed, never NULL. */
MBG_API const char *mbg_version(void);

#ifdef __cplusplus
}
#endif

#endif
