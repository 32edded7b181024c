/* What files of layouts claim of structs and enums with: what does not hold does not compile. */
#ifndef GALVO_ABI_CLAIMS_H
#define GALVO_ABI_CLAIMS_H

#include <galvo/galvo.h>

#ifdef __cplusplus
#define CLAIM(claim, text) static_assert(claim, text)
#else
#define CLAIM(claim, text) _Static_assert(claim, text)
#endif

/* Alike where size_t and pointers have 64 bits: x86_64, aarch64. */
#define LP64 (sizeof(void *) == 8)
#define SIZE(type, bytes) CLAIM(!LP64 || sizeof(type) == (bytes), "size of " #type)
#define AT(type, member, offset)                                                                   \
	CLAIM(!LP64 || offsetof(type, member) == (offset), "offset of " #type "." #member)
#define VALUE(name, value) CLAIM((int)(name) == (value), "value of " #name)

#endif
