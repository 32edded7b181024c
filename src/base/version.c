/* The version, in one place: CMake hands it in. */
#include "base.h"

const char *galvo_version(void)
{
	return GALVO_VERSION;
}
