/* What processes used beside their rows, how they ended, and how that adds up to the kernel's account. */
#include "figure.h"

#define BLOCK_BYTES 512.0

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

/* In the unit of that kind: seconds or bytes. Doubles cannot overflow, whatever a file claims. */
static double amount(enum usage_kind kind, uint64_t v)
{
	return kind == USAGE_CPU_NS ? seconds(v) : (double)v;
}

/* ---- one by one ----------------------------------------------------------------------------- */

/* What the rows come to, by kind. */
static double of_rows(const struct summary_process *p, enum usage_kind kind)
{
	const double rows[USAGE_END] = {
		[USAGE_CPU_NS] = p->cpu_pct_of_core.total,
		[USAGE_RCHAR] = p->rchar_bytes_per_s.total,
		[USAGE_WCHAR] = p->wchar_bytes_per_s.total,
		[USAGE_READ] = p->read_bytes_per_s.total,
		[USAGE_WRITE] = p->write_bytes_per_s.total,
		[USAGE_CANCELLED] = p->cancelled_write_bytes_per_s.total,
	};

	return rows[kind];
}

static void derive_use(struct summary_process *p, enum usage_kind kind)
{
	const struct usage *u = &p->info->usage[kind];

	p->use[kind] = (struct summary_use){.own = of_rows(p, kind), .head = NAN, .sampled = NAN,
	                                    .tail = NAN, .unseen = NAN, .mixed = NAN};
	if (!u->is_known)
		return;
	p->use[kind] = (struct summary_use){
		.own = amount(kind, u->head) + amount(kind, u->sampled) + amount(kind, u->tail),
		.head = amount(kind, u->head), .sampled = amount(kind, u->sampled),
		.tail = amount(kind, u->tail), .unseen = amount(kind, u->unseen),
		.mixed = amount(kind, u->mixed)};
}

static void derive_rusage(struct summary_process *p, const struct process_end *e)
{
	p->has_rusage = true;
	p->rusage = (struct summary_rusage){
		.user_s = seconds(e->user_ns), .system_s = seconds(e->system_ns),
		.max_rss_bytes = (double)e->max_rss_bytes, .minor_faults = (double)e->minor_faults,
		.major_faults = (double)e->major_faults,
		.read_bytes = BLOCK_BYTES * (double)e->read_blocks,
		.write_bytes = BLOCK_BYTES * (double)e->write_blocks,
		.voluntary_switches = (double)e->voluntary_switches,
		.involuntary_switches = (double)e->involuntary_switches};
}

/* The command that was started is waited for by its recorder, which may have told only the session. */
static struct process_end end_of(const struct process_info *info, const struct galvo_run *run)
{
	const struct session_workload *w = run->session ? &run->session->workload : NULL;
	struct process_end end = info->end;

	if (!w || !w->present || !w->exited || !info->root || info->pid != w->pid)
		return end;
	if (!end.has_status) {
		end.has_status = true;
		end.exit_code = w->exit_code;
		end.term_signal = w->term_signal;
	}
	if (end.has_usage)
		return end;
	end.has_usage = true;
	end.user_ns = w->user_ns;
	end.system_ns = w->system_ns;
	end.max_rss_bytes = w->max_rss_bytes;
	end.minor_faults = w->minor_faults;
	end.major_faults = w->major_faults;
	end.read_blocks = w->read_blocks;
	end.write_blocks = w->write_blocks;
	end.voluntary_switches = w->voluntary_switches;
	end.involuntary_switches = w->involuntary_switches;
	return end;
}

static void derive_end(const struct galvo_summary *s, struct summary_process *p,
                       const struct galvo_run *run)
{
	struct process_end end = end_of(p->info, run);

	if (end.has_usage)
		derive_rusage(p, &end);
	p->exit_code = end.exit_code;
	p->term_signal = end.term_signal;
	if (end.has_status)
		p->life = end.term_signal ? LIFE_KILLED : LIFE_EXITED;
	else if (p->info->end_mono_ns)
		p->life = LIFE_GONE;
	else if (p->info->removed)
		p->life = LIFE_LEFT;
	else
		p->life = s->finished ? LIFE_RUNNING : LIFE_UNKNOWN;
	p->failed = end.has_status && end.exit_code != 0;
}

/* ---- together ------------------------------------------------------------------------------- */

static double account_all(const struct galvo_run *run, enum usage_kind kind)
{
	const struct session_workload *w = run->session ? &run->session->workload : NULL;

	if (!w || !w->present || !w->exited)
		return NAN;
	switch (kind) {
	case USAGE_CPU_NS:
		return seconds(w->user_ns) + seconds(w->system_ns);
	case USAGE_READ:
		return BLOCK_BYTES * (double)w->read_blocks;
	case USAGE_WRITE:
		return BLOCK_BYTES * (double)w->write_blocks;
	case USAGE_RCHAR:
	case USAGE_WCHAR:
	case USAGE_CANCELLED:
	case USAGE_END:
		break;
	}
	return NAN;
}

/* 0 where it is not known. */
static double known_part(double v)
{
	return isnan(v) ? 0 : v;
}

/*
 * Rows of bytes alone cannot be added up: those of a process have what its ended children moved.
 * Those of CPU time can, and so may stand in for the parts of a process that has none.
 */
static void derive_balance(struct galvo_summary *s, const struct galvo_run *run,
                           enum usage_kind kind)
{
	struct summary_balance *b = &s->balance[kind];
	bool any = kind == USAGE_CPU_NS;
	size_t i;

	*b = (struct summary_balance){
		.account_all = account_all(run, kind), .own = NAN, .sampled = NAN, .between = NAN,
		.unseen = NAN, .mixed = NAN, .rest = NAN, .rest_pct = NAN, .whole = NAN};
	for (i = 0; i < s->processes_len; i++) {
		const struct summary_use *u = &s->processes[i].use[kind];

		if (isnan(u->head)) {
			b->silent++;
			if (kind == USAGE_CPU_NS) {
				add_known(&b->own, u->own);
				add_known(&b->sampled, u->own);
			}
			continue;
		}
		any = true;
		add_known(&b->own, u->own);
		add_known(&b->sampled, u->sampled);
		add_known(&b->between, u->head + u->tail);
		add_known(&b->unseen, u->unseen);
		add_known(&b->mixed, u->mixed);
	}
	if (!any)
		return;
	b->rest = b->account_all - known_part(b->own) - known_part(b->unseen) -
	          known_part(b->mixed);
	b->rest_pct = b->account_all > 0 ? 100 * b->rest / b->account_all : NAN;
	if (!isnan(b->own) || !isnan(b->rest))
		b->whole = known_part(b->own) + known_part(b->unseen) + known_part(b->mixed) +
		           fmax(known_part(b->rest), 0);
}

/*
 * CPU time adds up: all of them together used what each of them did. Ticks cannot tell, since those
 * of different processes cover different times.
 */
void derive_usage(struct galvo_summary *s, const struct galvo_run *run)
{
	const struct summary_balance *cpu = &s->balance[USAGE_CPU_NS];
	enum usage_kind kind;
	size_t i;

	for (i = 0; i < s->processes_len; i++) {
		struct summary_process *p = &s->processes[i];

		derive_end(s, p, run);
		for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++)
			derive_use(p, kind);
	}
	for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++)
		derive_balance(s, run, kind);
	s->cpu.followed_pct_of_core.total = cpu->own;
	/* Who uses more than the account has was not waited for: it takes nothing from the others. */
	s->cpu.unseen_s = isnan(cpu->rest) && isnan(cpu->unseen)
	                  ? NAN : cpu->whole - known_part(cpu->own);
}
