/* A small reader of JSON, to see that a text is some: one value, and nothing else. */
#ifndef GALVO_JSON_READER_H
#define GALVO_JSON_READER_H

#include <stdlib.h>

#include "base/base.h"

static inline bool json_value(struct span *rest, unsigned depth);

static inline bool take_char(struct span *rest, char c)
{
	while (rest->n && (*rest->p == ' ' || *rest->p == '\n'))
		*rest = span_of(rest->p + 1, rest->n - 1);
	if (rest->n == 0 || *rest->p != c)
		return false;
	*rest = span_of(rest->p + 1, rest->n - 1);
	return true;
}

static inline bool json_quoted(struct span *rest)
{
	if (!take_char(rest, '"'))
		return false;
	while (rest->n && *rest->p != '"') {
		if ((unsigned char)*rest->p < 0x20 || (*rest->p == '\\' && rest->n < 2))
			return false;
		*rest = *rest->p == '\\' ? span_of(rest->p + 2, rest->n - 2)
		                         : span_of(rest->p + 1, rest->n - 1);
	}
	return take_char(rest, '"');
}

static inline bool json_members(struct span *rest, char end, bool keyed, unsigned depth)
{
	if (take_char(rest, end))
		return true;
	do {
		if (keyed && (!json_quoted(rest) || !take_char(rest, ':')))
			return false;
		if (!json_value(rest, depth + 1))
			return false;
	} while (take_char(rest, ','));
	return take_char(rest, end);
}

static inline bool json_value(struct span *rest, unsigned depth)
{
	static const char *const words[] = {"true", "false", "null"};
	struct span ahead;
	char *end;
	size_t i;

	if (depth > 20)
		return false;
	if (take_char(rest, '{'))
		return json_members(rest, '}', true, depth);
	if (take_char(rest, '['))
		return json_members(rest, ']', false, depth);
	ahead = *rest;
	if (take_char(&ahead, '"'))
		return json_quoted(rest);
	*rest = span_trim(*rest);
	for (i = 0; i < ARRAY_LEN(words); i++)
		if (span_starts(*rest, words[i])) {
			size_t n = span_str(words[i]).n;

			*rest = span_of(rest->p + n, rest->n - n);
			return true;
		}
	strtod(rest->p, &end);
	if (end == rest->p)
		return false;
	*rest = span_of(end, rest->n - (size_t)(end - rest->p));
	return true;
}

static inline bool json_is_sound(struct span text)
{
	return json_value(&text, 0) && span_trim(text).n == 0;
}

#endif
