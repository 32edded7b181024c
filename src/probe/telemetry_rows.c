/* What readers of GPUs have finished, made into series and rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "telemetry_internal.h"

/* ---- parts ----------------------------------------------------------------------------------- */

static struct part *part_new(uint32_t number)
{
	struct part *p = calloc(1, sizeof(*p));
	unsigned g;

	if (!p)
		return NULL;
	p->info = (struct gpu_info){
		.index = number,
		.peak_dram_bytes_per_s = NAN,
		.peak_pcie_bytes_per_s = NAN,
		.peak_nvlink_bytes_per_s = NAN,
	};
	snprintf(p->subject, sizeof(p->subject), "GPU %u", number);
	for (g = 0; g < GPU_GROUPS; g++)
		series_init(&p->series[g], gpu_sources[g]);
	return p;
}

static void part_forget(struct unit *u, struct part *p)
{
	size_t i;

	for (i = 0; i < p->users_len; i++)
		u->rejected += p->users[i].series.rejected;
	p->users_len = 0;
	for (i = 0; i < GPU_GROUPS; i++)
		series_reset(&p->series[i]);
}

/* Which of the unit's parts has that number; made on first sight, in the place of one that is gone if
 * there are too many. PARTS_KEPT: no room, or no memory. */
static size_t part_of(struct unit *u, uint32_t number)
{
	size_t i, free_at = PARTS_KEPT;
	struct part *p;

	for (i = 0; i < u->parts_len; i++) {
		if (u->parts[i]->info.index == number)
			return i;
		if (i && !u->parts[i]->is_there)
			free_at = i;
	}
	if (u->parts_len < PARTS_KEPT)
		free_at = u->parts_len;
	p = free_at < PARTS_KEPT ? part_new(number) : NULL;
	if (!p)
		return PARTS_KEPT;
	if (free_at == u->parts_len) {
		u->parts_len++;
	} else {
		free(u->parts[free_at]->users);
		free(u->parts[free_at]);
	}
	u->parts[free_at] = p;
	return free_at;
}

/* Another one in the place of an old one begins anew. */
static void part_is(struct unit *u, struct part *p, const struct gpu_info *info)
{
	if (p->info.uuid[0] && strcmp(p->info.uuid, info->uuid) != 0)
		part_forget(u, p);
	p->info = *info;
	p->info.index += u->first_number;
	p->info.parent += info->is_instance ? u->first_number : 0;
	p->is_there = true;
}

void part_tell(const struct unit *u, const struct part *p, struct gpu_info *ret)
{
	const char *before = "; not told: ";
	size_t at = strlen(p->info.note), g, i;

	*ret = p->info;
	if (p->info.is_instance || p->info.lost_mono_ns || u->looks < 2)
		return;
	if (!at)
		before += strlen("; ");
	for (g = 0; g < GPU_GROUPS; g++)
		for (i = 0; g != GPU_PROCESSES && i < gpu_sources[g]->metrics_len; i++) {
			const char *name = gpu_sources[g]->metrics[i].name;

			if (p->told[g] >> i & 1 || p->series[g].reads < 2 ||
			    gpu_sources[g]->metrics[i].is_rare)
				continue;
			if (at + strlen(before) + strlen(name) >= sizeof(ret->note))
				return;
			at += (size_t)snprintf(ret->note + at, sizeof(ret->note) - at, "%s%s", before,
			                       name + strlen("gpu__"));
			before = ", ";
		}
}

/* ---- units ----------------------------------------------------------------------------------- */

struct unit *unit_new(struct library_use *use, uint32_t number, uint32_t first_number)
{
	struct unit *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->first_number = first_number;
	u->retry_ns = RETRY_MIN_NS;
	u->reader = reader_new(use, number);
	if (!u->reader || part_of(u, first_number + number) != 0) {
		unit_free(u);
		return NULL;
	}
	utf8_copy(u->parts[0]->info.vendor, sizeof(u->parts[0]->info.vendor),
	          span_str(use->vendor->name));
	return u;
}

void unit_free(struct unit *u)
{
	size_t i;

	if (u->reader)
		worker_let_go(&u->reader->worker);
	for (i = 0; i < u->parts_len; i++) {
		free(u->parts[i]->users);
		free(u->parts[i]);
	}
	free(u);
}

uint64_t unit_rejected(const struct unit *u)
{
	uint64_t n = u->rejected;
	size_t i, k;

	for (i = 0; i < u->parts_len; i++) {
		for (k = 0; k < GPU_GROUPS; k++)
			n += u->parts[i]->series[k].rejected;
		for (k = 0; k < u->parts[i]->users_len; k++)
			n += u->parts[i]->users[k].series.rejected;
	}
	return n;
}

static void part_lose(struct unit *u, struct part *p, uint64_t mono_ns, const char *why)
{
	part_forget(u, p);
	p->is_there = false;
	if (p->info.lost_mono_ns)
		return; /* that it still is has another reason, which says less */
	p->info.lost_mono_ns = mono_ns;
	utf8_copy(p->info.note, sizeof(p->info.note), span_str(why));
}

void unit_lose(struct telemetry *t, struct unit *u, uint64_t mono_ns, const char *why)
{
	size_t i;

	for (i = 0; i < u->parts_len; i++)
		if (i == 0 || u->parts[i]->is_there)
			part_lose(u, u->parts[i], mono_ns, why);
	u->is_attached = false;
	u->read_parts = 0;
	u->retry_mono_ns = telemetry_now(t) + u->retry_ns;
	u->retry_ns = u->retry_ns * 2 < RETRY_MAX_NS ? u->retry_ns * 2 : RETRY_MAX_NS;
}

/* ---- looks ----------------------------------------------------------------------------------- */

static void take_look(struct telemetry *t, struct unit *u)
{
	const struct reader *r = u->reader;
	bool was_there[PARTS_KEPT] = {false};
	uint64_t now = telemetry_now(t);
	size_t i, at;

	if (r->look_status != GALVO_OK)
		group_fail(&t->groups[GPU_FAST], u->asked_mono_ns, u->parts[0]->subject,
		           r->look_error.text);
	if (r->look_status == GALVO_ERR_ABSENT) {
		unit_lose(t, u, now, r->look_error.text);
		return;
	}
	for (i = 0; i < u->parts_len; i++) {
		was_there[i] = u->parts[i]->is_there;
		u->parts[i]->is_there = false;
	}
	for (i = 0; i < r->parts_len; i++) {
		at = part_of(u, u->first_number + r->infos[i].index);
		u->part_at[i] = (uint8_t)at;
		if (at < PARTS_KEPT)
			part_is(u, u->parts[at], &r->infos[i]);
	}
	for (i = 0; i < u->parts_len; i++)
		if (was_there[i] && !u->parts[i]->is_there)
			part_lose(u, u->parts[i], now, "the instance is there no more");
	u->read_parts = r->parts_len;
	u->is_attached = true;
	u->retry_ns = RETRY_MIN_NS;
	u->look_mono_ns = now + (u->looks++ ? LOOK_PERIOD_NS : LOOK_SOON_NS);
}

/* ---- readings -------------------------------------------------------------------------------- */

void group_fail(struct group *g, uint64_t mono_ns, const char *subject, const char *text)
{
	char reason[REASON_BYTES + sizeof(((galvo_error *)NULL)->text)];

	g->failures++;
	if (!g->first_failure_mono_ns)
		g->first_failure_mono_ns = mono_ns;
	snprintf(reason, sizeof(reason), "%s: %s", subject, text);
	utf8_copy(g->reason, sizeof(g->reason), span_str(reason));
}

void unit_miss(struct telemetry *t, struct unit *u, uint64_t turns)
{
	unsigned g, longest = GPU_FAST;
	char text[REASON_BYTES];

	for (g = 0; g < GPU_GROUPS; g++)
		if (u->mean_ns[g] > u->mean_ns[longest])
			longest = g;
	u->missed += turns;
	snprintf(text, sizeof(text), "%llu readings missed, as one of %s takes %llu ms",
	         (unsigned long long)u->missed, gpu_sources[longest]->name,
	         (unsigned long long)(u->mean_ns[longest] / NS_PER_MS));
	group_fail(&t->groups[GPU_FAST], telemetry_now(t), unit_whole(u)->subject, text);
	t->groups[GPU_FAST].failures += turns - 1;
}

static void note_told(struct part *p, unsigned g)
{
	size_t i;

	for (i = 0; i < gpu_sources[g]->metrics_len; i++)
		if (!isnan(p->series[g].value[i]))
			p->told[g] |= UINT32_C(1) << i;
}

static size_t put_values(const struct part *p, unsigned g, double *row, size_t n)
{
	memcpy(row + n, p->series[g].value, gpu_sources[g]->metrics_len * sizeof(row[0]));
	return n + gpu_sources[g]->metrics_len;
}

/* The columns of links are part of the row of what it does; they are taken in first. */
static void put_row(struct telemetry *t, const struct part *p, unsigned g, uint64_t mono_ns)
{
	double row[ROW_MAX];
	size_t n;

	if (!t->stream || g == GPU_LINK || !series_has_value(&p->series[g]))
		return;
	n = put_values(p, g, row, 0);
	if (g == GPU_FAST)
		n = put_values(p, GPU_LINK, row, n);
	stream_row(t->stream, gpu_sources[g]->scope, mono_ns, (struct row_key){.number = p->info.index},
	           row, n);
}

static struct user *user_of(struct part *p, uint32_t pid)
{
	size_t i;

	for (i = 0; i < p->users_len; i++)
		if (p->users[i].pid == pid)
			return &p->users[i];
	if (!grow_array((void **)&p->users, &p->users_cap, p->users_len, sizeof(*p->users), USERS_MAX))
		return NULL;
	p->users[p->users_len].pid = pid;
	series_init(&p->users[p->users_len].series, gpu_sources[GPU_PROCESSES]);
	return &p->users[p->users_len++];
}

static void take_users(struct telemetry *t, struct unit *u, struct part *p, size_t at)
{
	const struct reader *r = u->reader;
	uint64_t mono_ns = r->finished[GPU_PROCESSES].mono_ns[at];
	size_t i, kept = 0;
	struct user *user;

	for (i = 0; i < p->users_len; i++)
		p->users[i].is_listed = false;
	for (i = 0; i < r->users[at].len; i++) {
		user = user_of(p, r->users[at].at[i].pid);
		if (!user)
			break;
		user->is_listed = true;
		series_update(&user->series, 0, &r->users[at].at[i].raw, mono_ns);
		if (t->stream)
			stream_row(t->stream, SCOPE_GPU_PROCESS, mono_ns,
			           (struct row_key){.number = user->pid, .second = p->info.index},
			           user->series.value, gpu_sources[GPU_PROCESSES]->metrics_len);
	}
	for (i = 0; i < p->users_len; i++) {
		if (p->users[i].is_listed)
			p->users[kept++] = p->users[i];
		else
			u->rejected += p->users[i].series.rejected;
	}
	p->users_len = kept;
}

static void account(struct telemetry *t, struct unit *u, unsigned g)
{
	const struct finished *f = &u->reader->finished[g];
	struct group *group = &t->groups[g];

	group->reads++;
	if (!group->calibrated_ns)
		group->calibrated_ns = f->took_ns;
	u->mean_ns[g] = u->mean_ns[g] ? (u->mean_ns[g] * 15 + f->took_ns) / 16 : f->took_ns;
	u->mean_cpu_ns[g] = u->mean_cpu_ns[g] ? (u->mean_cpu_ns[g] * 15 + f->cpu_ns) / 16 : f->cpu_ns;
}

static void take_group(struct telemetry *t, struct unit *u, unsigned g)
{
	const struct finished *f = &u->reader->finished[g];
	size_t i;

	account(t, u, g);
	if (f->status != GALVO_OK)
		group_fail(&t->groups[g], u->asked_mono_ns, u->parts[0]->subject, f->error.text);
	if (f->status == GALVO_ERR_ABSENT) {
		unit_lose(t, u, u->asked_mono_ns, f->error.text);
		return;
	}
	for (i = 0; i < u->read_parts; i++) {
		struct part *p;

		if (u->part_at[i] == PARTS_KEPT)
			continue;
		p = u->parts[u->part_at[i]];
		if (g == GPU_PROCESSES) {
			take_users(t, u, p, i);
			continue;
		}
		series_update(&p->series[g], 0, &f->raw[i], f->mono_ns[i]);
		note_told(p, g);
		put_row(t, p, g, f->mono_ns[i]);
	}
}

void unit_take(struct telemetry *t, struct unit *u)
{
	/* What others lean on comes first. */
	static const unsigned order[] = {GPU_LINK, GPU_FAST, GPU_PROCESSES, GPU_DETAIL};
	bool was_idle = worker_is_idle(&u->reader->worker); /* before: then `ready` has all of it */
	uint32_t ready = atomic_exchange_explicit(&u->reader->ready, 0, memory_order_acquire);
	size_t i;

	if (u->is_silent) {
		/* When it was read nobody knows. Where it answers again it begins anew. */
		u->is_silent = !was_idle;
		if (!u->is_silent)
			u->retry_mono_ns = 0;
		return;
	}
	if (ready >> GPU_LOOK & 1)
		take_look(t, u);
	for (i = 0; i < ARRAY_LEN(order) && u->is_attached; i++)
		if (ready >> order[i] & 1)
			take_group(t, u, order[i]);
}
