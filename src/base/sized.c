/* Structs of the public headers that grow: callers of older and of newer headers are both served. */
#include "base.h"

static size_t size_of(const void *sized)
{
	size_t bytes;

	memcpy(&bytes, sized, sizeof(bytes));
	return bytes;
}

galvo_status sized_take(const char *what, void *to, size_t to_bytes, const void *from,
                        galvo_error *reterr)
{
	size_t from_bytes = from ? size_of(from) : 0, i;
	const unsigned char *bytes = from;

	if (!from)
		return err_set(reterr, GALVO_ERR_INVALID, "%s: expected one, got NULL", what);
	if (from_bytes < sizeof(from_bytes))
		return err_set(reterr, GALVO_ERR_INVALID, "%s: struct_size is not set", what);
	for (i = to_bytes; i < from_bytes; i++)
		if (bytes[i])
			return err_set(reterr, GALVO_ERR_NEWER,
			               "%s: made for a newer galvo, which has more members", what);
	memset(to, 0, to_bytes);
	memcpy(to, from, from_bytes < to_bytes ? from_bytes : to_bytes);
	return GALVO_OK;
}

galvo_status sized_give(const char *what, void *to, const void *from, size_t from_bytes,
                        galvo_error *reterr)
{
	size_t to_bytes = size_of(to), n = to_bytes < from_bytes ? to_bytes : from_bytes;

	if (to_bytes < sizeof(to_bytes))
		return err_set(reterr, GALVO_ERR_INVALID, "%s: struct_size is not set", what);
	memset(to, 0, to_bytes);
	memcpy(to, from, n);
	memcpy(to, &to_bytes, sizeof(to_bytes));
	return GALVO_OK;
}
