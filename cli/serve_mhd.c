/* Loads libmicrohttpd and binds what we use of it. */
#include <dlfcn.h>
#include <string.h>

#include "cli.h"
#include "serve_mhd.h"

#define LIBRARY "libmicrohttpd.so.12"

bool mhd_load(struct mhd *m)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
#define MHD_ROW(name) {#name, offsetof(struct mhd, name)},
		MHD_FUNCTIONS(MHD_ROW)
#undef MHD_ROW
	};
	size_t i;

	m->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!m->handle) {
		complain("galvo serve needs %s, which is not installed (package libmicrohttpd12)", LIBRARY);
		return false;
	}
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *symbol = dlsym(m->handle, functions[i].name);

		if (!symbol) {
			complain("%s has no function %s: expected libmicrohttpd 0.9.71 or newer", LIBRARY,
			         functions[i].name);
			return false;
		}
		/* POSIX lets a pointer to an object be one to a function, C does not. */
		memcpy((char *)m + functions[i].offset, &symbol, sizeof(symbol));
	}
	return true;
}
