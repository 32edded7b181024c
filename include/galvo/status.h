/*
 * Outcomes and error text: what every galvo function returns.
 *
 * A function that can fail returns a galvo_status and, as its last parameter, takes a pointer to a
 * galvo_error that the caller owns (NULL is fine). The error is written only on failure, so one
 * struct can serve many calls. Values and layout are frozen.
 */
#ifndef GALVO_STATUS_H
#define GALVO_STATUS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define GALVO_API __attribute__((visibility("default")))
#else
#define GALVO_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum galvo_status {
	GALVO_DONE = 1,             /* nothing more; not a failure */
	GALVO_OK = 0,
	GALVO_ERR_NOMEM = -1,
	GALVO_ERR_INVALID = -2,     /* the caller asked for something that makes no sense */
	GALVO_ERR_STATE = -3,       /* right call, wrong moment */
	GALVO_ERR_ABSENT = -4,      /* this machine or run has no such thing */
	GALVO_ERR_DENIED = -5,      /* it is there, and we may not look */
	GALVO_ERR_MALFORMED = -6,   /* bytes from outside are not as documented */
	GALVO_ERR_IO = -7,
	GALVO_ERR_NEWER = -8,       /* made by, or for, a newer galvo */
	GALVO_ERR_CALLBACK = -9,    /* a callback of the caller asked to stop */
	GALVO_STATUS_WIDTH = 0x7fffffff /* keeps the enum 32 bits wide */
} galvo_status;

typedef struct galvo_error {
	int32_t status;    /* a galvo_status */
	int32_t sys_errno; /* errno where the operating system said no, else 0 */
	char text[248];    /* one line, NUL-terminated, outermost context first */
} galvo_error;

/*
 * Receives bytes of a document as they are made. Returning non-zero stops the maker, which then
 * fails with GALVO_ERR_CALLBACK. Called on the thread that called galvo, with no lock held.
 */
typedef int (*galvo_write_fn)(void *ctx, const void *bytes, size_t n);

/* "0.1.0". Any thread; the string is static. */
GALVO_API const char *galvo_version(void);

#ifdef __cplusplus
}
#endif
#endif
