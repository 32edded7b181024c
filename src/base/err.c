/* Error text: made where it fails, wrapped on the way up. */
#include <errno.h>
#include <stdarg.h>

#include "base.h"

galvo_status (err_set)(galvo_error *e, galvo_status status, const char *fmt, ...)
{
	va_list args;

	if (!e)
		return status;
	e->status = status;
	e->sys_errno = 0;
	va_start(args, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
	return status;
}

static galvo_status status_of_errno(int sys_errno)
{
	switch (sys_errno) {
	case ENOENT:
	case ESRCH:
	case ENXIO:
	case ENODEV:
	case ENOTDIR:
		return GALVO_ERR_ABSENT;
	case EACCES:
	case EPERM:
		return GALVO_ERR_DENIED;
	case ENOMEM:
		return GALVO_ERR_NOMEM;
	default:
		return GALVO_ERR_IO;
	}
}

galvo_status (err_sys)(galvo_error *e, int sys_errno, const char *fmt, ...)
{
	galvo_status status = status_of_errno(sys_errno);
	char words[64];
	va_list args;
	int n;

	if (!e)
		return status;
	e->status = status;
	e->sys_errno = sys_errno;
	va_start(args, fmt);
	n = vsnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
	if (n >= 0 && (size_t)n < sizeof(e->text))
		snprintf(e->text + n, sizeof(e->text) - (size_t)n, ": %s",
		         strerror_r(sys_errno, words, sizeof(words)));
	return status;
}

void err_wrap(galvo_error *e, const char *fmt, ...)
{
	char whole[2 * sizeof(e->text)];
	struct buf b = {.p = whole, .cap = sizeof(whole), .max = sizeof(whole)};
	va_list args;
	int n;

	if (!e)
		return;
	va_start(args, fmt);
	n = vsnprintf(whole, sizeof(e->text), fmt, args);
	va_end(args);
	b.len = n < 0 ? 0 : (size_t)n < sizeof(e->text) ? (size_t)n : sizeof(e->text) - 1;
	buf_put_str(&b, ": ");
	buf_put_str(&b, e->text);
	utf8_copy(e->text, sizeof(e->text), span_of(whole, b.len));
}

galvo_status (err_malformed)(galvo_error *e, const char *path, struct span text, struct span there,
                           const char *want)
{
	enum { CLIP = 24 };
	char shown[CLIP * 4 + 1];
	struct buf b = {.p = shown, .cap = sizeof(shown), .max = sizeof(shown)};
	size_t line = 1;
	const char *p;

	if (!e)
		return GALVO_ERR_MALFORMED;
	for (p = text.p; text.n && p < there.p && p < text.p + text.n; p++)
		line += *p == '\n';
	buf_put_escaped(&b, span_of(there.p, there.n < CLIP ? there.n : CLIP));
	return err_set(e, GALVO_ERR_MALFORMED, "%s:%zu: expected %s, got '%.*s'", path, line, want,
	               (int)b.len, shown);
}
