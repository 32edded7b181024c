/* The I/O of a process: what is its own, what of children that it waited for, what cannot be told. */
#include "source_rig.h"
#include "tap.h"

struct io {
	uint64_t total, alone, mark, threads; /* wchar; alone: of the main thread, NONE: not readable */
};
#define NONE UINT64_MAX

/* after: the mark as it was read again, or NONE. */
static void io_put(struct raw *r, const struct io *io, uint64_t after)
{
	const struct source *s = rig_source(span_str("process_io"));
	const struct { const char *name; uint64_t value; } put[] = {
		{"total_wchar_bytes", io->total}, {"main_wchar_bytes", io->alone},
		{"reaped_mark", io->mark}, {"threads_count", io->threads},
		{"reaped_mark_after", after},
	};
	size_t i, f;

	raw_clear(r);
	for (i = 0; i < ARRAY_LEN(put); i++)
		for (f = 0; f < s->fields_len; f++)
			if (!strcmp(s->fields[f].name, put[i].name) && put[i].value != NONE)
				raw_put(r, (unsigned)f, put[i].value);
}

static uint64_t io_get(const struct raw *r, const char *name)
{
	const struct source *s = rig_source(span_str("process_io"));
	size_t f;

	for (f = 0; f < s->fields_len; f++)
		if (!strcmp(s->fields[f].name, name))
			return r->present & FIELD(f) ? r->value[f] : NONE;
	return NONE;
}

/* Readings one after the other, and how they are parted in the end. */
static void io_is_parted(void)
{
	static const struct {
		const char *what;
		struct io readings[4]; /* up to one with no threads */
		struct io again;       /* the stat file read once more: NONE threads if it must not be */
		uint64_t own, reaped, mixed;
	} rows[] = {
		{"alone", {{10, 10, 0, 1}, {25, 25, 0, 1}}, {.threads = NONE}, 25, 0, 0},
		{"a child was waited for", {{10, 10, 0, 1}, {125, 15, 7, 1}}, {.threads = NONE}, 15, 110, 0},
		{"twice", {{10, 10, 0, 1}, {125, 15, 7, 1}, {200, 16, 9, 1}}, {.threads = NONE}, 16, 184, 0},
		{"before it was found", {{110, 10, 7, 1}, {115, 15, 7, 1}}, {.threads = NONE}, 15, 100, 0},
		{"threads, nobody waited for", {{10, 4, 0, 3}, {50, 5, 0, 3}}, {.mark = 0}, 50, 0, 0},
		{"threads, and a child", {{10, 4, 0, 3}, {50, 5, 7, 3}}, {.threads = NONE}, 10, 0, 40},
		{"threads, a child between the texts", {{10, 4, 0, 3}, {50, 5, 0, 3}}, {.mark = 7},
		 10, 0, 40},
		{"threads, a child after the bytes: it shows in the next ones",
		 {{10, 4, 0, 3}, {50, 5, 0, 3}, {90, 6, 7, 3}, {91, 7, 7, 3}}, {.mark = 7}, 11, 0, 80},
		{"its thread has ended", {{10, 4, 0, 2}, {10, 4, 0, 1}, {12, 6, 0, 1}}, {.threads = NONE},
		 12, 0, 0},
		{"a thread came and went", {{10, 10, 0, 1}, {50, 12, 0, 1}}, {.mark = 0}, 50, 0, 0},
		{"main thread not readable", {{10, NONE, 0, 1}, {50, NONE, 7, 1}}, {.threads = NONE},
		 10, 0, 40},
		{"no stat file", {{10, NONE, NONE, NONE}, {50, NONE, NONE, NONE}}, {.threads = NONE},
		 50, 0, 0},
		{"threads before it was found", {{110, 10, 7, 4}}, {.threads = NONE}, 0, 0, 110},
		{"it never grows backwards", {{50, 50, 0, 1}, {40, 40, 0, 1}}, {.threads = NONE}, 50, 0, 0},
	};
	const struct source *s = rig_source(span_str("process_io"));
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct raw before = {0}, now;
		bool was_asked = false;

		for (k = 0; k < 4 && rows[i].readings[k].threads; k++) {
			const struct io io = rows[i].readings[k];

			io_put(&now, &io, NONE);
			if (!s->settle(&before, &now, false)) {
				was_asked = true;
				io_put(&now, &io, rows[i].again.mark);
				OK(s->settle(&before, &now, true));
			}
			before = now;
		}
		if (!OK(was_asked == (rows[i].again.threads != NONE)) ||
		    !EQ(io_get(&before, "wchar_bytes"), rows[i].own) ||
		    !EQ(io_get(&before, "reaped_wchar_bytes"), rows[i].reaped) ||
		    !EQ(io_get(&before, "mixed_wchar_bytes"), rows[i].mixed))
			printf("# %s\n", rows[i].what);
	}
}

static const struct tap_test tests[] = {
	{"bytes are parted", io_is_parted},
};

TAP_MAIN(tests)
