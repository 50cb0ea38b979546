#include "mbgrad/version.h"

const char *mbg_version(void) { return MBG_VERSION; }
