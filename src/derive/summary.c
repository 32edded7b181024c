/* A summary of a run: who ran what where, and all the figures. */
#include <math.h>

#include "figure.h"

static double known(uint64_t n)
{
	return n ? (double)n : NAN;
}

static void derive_workload(struct galvo_summary *s, const struct session_workload *w)
{
	uint64_t end_ns = w->end_mono_ns ? w->end_mono_ns : s->end_mono_ns;
	struct summary_workload *to = &s->workload;

	*to = (struct summary_workload){
		.argv = w->argv, .argv_len = w->argv_len, .pid = w->pid,
		.exit_code = w->exit_code, .term_signal = w->term_signal,
		.user_s = NAN, .system_s = NAN, .max_rss_bytes = NAN, .minor_faults = NAN,
		.major_faults = NAN, .voluntary_switches = NAN, .involuntary_switches = NAN,
		.pct_of_core = NAN,
		.wall_s = w->start_mono_ns && end_ns > w->start_mono_ns
		          ? (double)(end_ns - w->start_mono_ns) / (double)NS_PER_S : NAN};
	if (w->exited) {
		to->state = w->term_signal ? WORKLOAD_KILLED : WORKLOAD_EXITED;
		to->user_s = (double)w->user_ns / (double)NS_PER_S;
		to->system_s = (double)w->system_ns / (double)NS_PER_S;
		to->max_rss_bytes = known(w->max_rss_bytes);
		to->minor_faults = (double)w->minor_faults;
		to->major_faults = (double)w->major_faults;
		to->voluntary_switches = (double)w->voluntary_switches;
		to->involuntary_switches = (double)w->involuntary_switches;
		if (to->wall_s > 0)
			to->pct_of_core = 100 * (to->user_s + to->system_s) / to->wall_s;
	} else {
		to->state = s->finished ? WORKLOAD_RUNNING : WORKLOAD_UNKNOWN;
	}
}

/* Where the session does not know its start or its end, the rows tell. */
static void derive_times(struct galvo_summary *s, const struct galvo_run *run)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	size_t i;

	for (i = 0; i < run->tables_len; i++) {
		const struct table *t = &run->tables[i];

		if (t->rows_len && t->mono_ns[0] < first_ns)
			first_ns = t->mono_ns[0];
		if (t->rows_len && t->mono_ns[t->rows_len - 1] > last_ns)
			last_ns = t->mono_ns[t->rows_len - 1];
	}
	for (i = 0; i < run->streams_len; i++)
		if (run->streams[i].last_mono_ns > last_ns)
			last_ns = run->streams[i].last_mono_ns;
	s->start_mono_ns = first_ns == UINT64_MAX ? 0 : first_ns;
	s->end_mono_ns = last_ns;
	if (run->session && run->session->start_mono_ns)
		s->start_mono_ns = run->session->start_mono_ns;
	if (run->session && run->session->stop_mono_ns)
		s->end_mono_ns = run->session->stop_mono_ns;
	s->recorded_s = s->start_mono_ns && s->end_mono_ns > s->start_mono_ns
	                ? (double)(s->end_mono_ns - s->start_mono_ns) / (double)NS_PER_S : NAN;
}

static void derive_header(struct galvo_summary *s, const struct galvo_run *run)
{
	const struct session *session = run->session;

	derive_times(s, run);
	if (!session)
		return;
	s->has_session = true;
	s->finished = session->stop_mono_ns != 0;
	s->hostname = session->hostname;
	s->kernel = session->kernel;
	s->root = session->root;
	s->galvo_version = session->galvo_version;
	s->cpu_count = session->cpu_count;
	s->start_wall_ns = session->start_wall_ns;
	if (session->workload.present)
		derive_workload(s, &session->workload);
}

galvo_status galvo_summary_create(const galvo_run *run, galvo_summary **ret_summary,
                                  galvo_error *reterr)
{
	static galvo_status (*const parts[])(struct galvo_summary *, const struct galvo_run *,
	                                     galvo_error *) = {
		derive_system, derive_devices, derive_processes, derive_threads, derive_gpus,
		derive_regions, derive_account,
	};
	struct galvo_summary *s;
	galvo_status status = GALVO_OK;
	size_t i;

	if (!run || !ret_summary)
		return err_set(reterr, GALVO_ERR_INVALID, "a summary needs a run");
	s = alloc_array(1, sizeof(*s));
	if (!s)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for a summary");
	derive_header(s, run);
	for (i = 0; i < ARRAY_LEN(parts) && status == GALVO_OK; i++)
		status = parts[i](s, run, reterr);
	if (status != GALVO_OK) {
		galvo_summary_destroy(s);
		return status;
	}
	*ret_summary = s;
	return GALVO_OK;
}

void galvo_summary_destroy(galvo_summary *s)
{
	if (!s)
		return;
	free(s->cpu.cores);
	free(s->disks);
	free(s->interfaces);
	free(s->gpus);
	free(s->gpu_processes);
	free(s->processes);
	free(s->threads);
	free(s->groups);
	free(s->regions);
	free(s->marks);
	free(s->notes);
	free(s->findings);
	free(s->streams);
	free(s->sources);
	free(s);
}
