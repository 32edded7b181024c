/* Captured machines: host.txt, and the world as it was at each instant. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "internal.h"

enum { HOST_TEXT_MAX = 1 << 20 };
#define HOST_FILE "host.txt"

static bool take_u32(struct span *rest, uint32_t *ret)
{
	uint64_t v;

	if (!span_take_u64(rest, &v) || v == 0 || v > INT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

static galvo_status take_instant(struct replay *r, struct span text, struct span line,
                                 galvo_error *reterr)
{
	struct span rest = line, name;
	struct instant *at;

	if (!grow_array((void **)&r->instants, &r->cap, r->len, sizeof(*r->instants), INSTANTS_MAX))
		return err_set(reterr, GALVO_ERR_NOMEM, HOST_FILE ": too many instants, or out of memory");
	at = &r->instants[r->len];
	if (!span_take_word(&rest, &name) || name.n >= sizeof(at->name) ||
	    !span_take_u64(&rest, &at->mono_ns) || !span_take_u64(&rest, &at->boot_ns) ||
	    !span_take_u64(&rest, &at->wall_ns) || span_trim(rest).n)
		return err_malformed(reterr, HOST_FILE, text, span_trim(line),
		                     "a directory and three clocks in ns");
	if (r->len && at->mono_ns <= r->instants[r->len - 1].mono_ns)
		return err_malformed(reterr, HOST_FILE, text, span_trim(line),
		                     "a later CLOCK_MONOTONIC than the instant before");
	memcpy(at->name, name.p, name.n);
	at->name[name.n] = '\0';
	r->len++;
	return GALVO_OK;
}

static galvo_status parse_host(struct replay *r, struct world *w, struct span text,
                               galvo_error *reterr)
{
	struct span rest = text, line, key;
	bool ok;

	while (span_take_line(&rest, &line)) {
		struct span whole = line;

		if (!span_take_word(&line, &key) || key.p[0] == '#')
			continue;
		if (span_eq_str(key, "instant")) {
			galvo_status status = take_instant(r, text, line, reterr);

			if (status != GALVO_OK)
				return status;
			continue;
		}
		ok = span_eq_str(key, "clk_tck") ? take_u32(&line, &w->clk_tck)
		     : span_eq_str(key, "page_bytes") ? take_u32(&line, &w->page_bytes)
		     : span_eq_str(key, "cpu_count") ? take_u32(&line, &w->cpu_count)
		                                     : false;
		if (!ok)
			return err_malformed(reterr, HOST_FILE, text, span_trim(whole),
			                     "clk_tck, page_bytes or cpu_count and a number, or an instant");
	}
	if (r->len == 0)
		return err_set(reterr, GALVO_ERR_MALFORMED, HOST_FILE ": no instant");
	return GALVO_OK;
}

galvo_status replay_open(int root_fd, struct replay **ret_replay, struct world *w,
                         galvo_error *reterr)
{
	struct replay *r;
	struct span text;
	struct buf buf;
	galvo_status status;

	buf_init(&buf, HOST_TEXT_MAX);
	status = file_read(root_fd, HOST_FILE, &buf, &text, reterr);
	if (status != GALVO_OK)
		goto done;
	r = calloc(1, sizeof(*r));
	if (!r) {
		status = err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
		goto done;
	}
	r->base_fd = -1;
	status = parse_host(r, w, text, reterr);
	if (status != GALVO_OK) {
		replay_close(r);
		goto done;
	}
	r->base_fd = root_fd;
	w->root_fd = -1;
	w->live = false;
	clock_fake_init(&r->clock, r->instants[0].mono_ns, r->instants[0].boot_ns,
	                r->instants[0].wall_ns);
	w->clock = &r->clock.clock;
	*ret_replay = r;
done:
	buf_finish(&buf);
	return status;
}

galvo_status replay_go(struct replay *r, struct world *w, size_t i, galvo_error *reterr)
{
	const struct instant *at = &r->instants[i];
	int fd = file_open(r->base_fd, at->name, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return err_sys(reterr, errno, "instant %s", at->name);
	world_close(w);
	w->root_fd = fd;
	w->epoch = (uint32_t)i + 1;
	clock_fake_init(&r->clock, at->mono_ns, at->boot_ns, at->wall_ns);
	return GALVO_OK;
}

void replay_close(struct replay *r)
{
	if (!r)
		return;
	if (r->base_fd >= 0)
		close(r->base_fd);
	free(r->instants);
	free(r);
}
