/* Shared libraries that are loaded at run time, and tables of their functions. */
#include "base.h"

#include <dlfcn.h>
#include <link.h>

galvo_status dso_open(const char *name, int flags, void **ret_handle, galvo_error *reterr)
{
	void *handle = dlopen(name, flags);
	const char *why;

	if (!handle) {
		why = dlerror();
		return err_set(reterr, GALVO_ERR_ABSENT, "%s", why ? why : name);
	}
	*ret_handle = handle;
	return GALVO_OK;
}

/* The first of the names, a space between, that the library has. */
static void *find_symbol(void *handle, const char *names)
{
	struct span rest = span_str(names), name;
	void *symbol = NULL;
	char text[128];

	while (!symbol && span_take_word(&rest, &name)) {
		if (name.n >= sizeof(text))
			continue;
		memcpy(text, name.p, name.n);
		text[name.n] = '\0';
		symbol = dlsym(handle, text);
	}
	return symbol;
}

galvo_status dso_bind(void *handle, const struct dso_symbol *symbols, size_t n, void *table,
                      galvo_error *reterr)
{
	void *symbol;
	size_t i;

	for (i = 0; i < n; i++) {
		symbol = find_symbol(handle, symbols[i].names);
		if (!symbol && symbols[i].required)
			return err_set(reterr, GALVO_ERR_ABSENT, "%s: no function %s",
			               dso_path(handle), symbols[i].names);
		/* POSIX lets a pointer to an object be one to a function, C does not. */
		memcpy((char *)table + symbols[i].offset, &symbol, sizeof(symbol));
	}
	return GALVO_OK;
}

const char *dso_path(void *handle)
{
	struct link_map *map = NULL;

	return handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : "";
}

void dso_stay(void)
{
	Dl_info here;

	if (dladdr((const void *)(uintptr_t)dso_stay, &here) && here.dli_fname)
		dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}
