/*
 * Any datagram is news of a process, the record of an exit, or neither: the same wherever it lies in
 * memory, and what is cut off is never read.
 */
#include "track/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Of the family that the input itself claims to be of, so that the inside is reached. */
static uint16_t family_of(const uint8_t *data, size_t n)
{
	uint16_t family = 0;

	if (n >= 6)
		memcpy(&family, data + 4, sizeof(family));
	return family;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct span whole = span_of((const char *)data, n), moved;
	struct exit_record record = {0}, again = {0};
	struct news news = {0}, same = {0};
	char *copy = malloc(n + 1);
	bool is_news, is_record;

	if (!copy)
		return 0;
	memcpy(copy + 1, data, n);
	moved = span_of(copy + 1, n);
	is_news = news_parse(whole, &news);
	if (is_news != news_parse(moved, &same) || news.tgid != same.tgid || news.code != same.code)
		abort();
	if (is_news && news.kind > NEWS_OTHER)
		abort();
	is_record = exit_record_parse(whole, family_of(data, n), &record);
	if (is_record != exit_record_parse(moved, family_of(data, n), &again) ||
	    record.tgid != again.tgid || record.own.cpu_ns != again.own.cpu_ns)
		abort();
	if (family_parse(whole) != family_parse(moved))
		abort();
	free(copy);
	return 0;
}
