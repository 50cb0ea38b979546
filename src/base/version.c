#include "mbgrad/version.h"

const char *mbg_version(void) { return MBG_VERSION; }

int mbg_version_number(void) { return MBG_VERSION_NUMBER; }
