/* What the public reader shows of a run, its rows apart. */
#include "view.h"

galvo_status view_give(const char *what, void *ret, const void *full, size_t bytes,
                       galvo_error *reterr)
{
	if (!ret)
		return err_set(reterr, GALVO_ERR_INVALID, "%s: there is no place for it", what);
	return sized_give(what, ret, full, bytes, reterr);
}

static uint64_t last_mono_ns(const struct galvo_run *run)
{
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < run->streams_len; i++)
		if (run->streams[i].last_mono_ns > last)
			last = run->streams[i].last_mono_ns;
	return last;
}

galvo_status galvo_run_get_info(const galvo_run *run, galvo_run_info *ret_info, galvo_error *reterr)
{
	static const struct session none = {
		.hostname = "", .kernel = "", .boot_id = "", .galvo_version = "",
	};
	const struct session *s = run && run->session ? run->session : &none;
	galvo_status status = view_at(run, 0, 1, reterr);
	const galvo_run_info info = {
		.hostname = s->hostname,
		.kernel = s->kernel,
		.boot_id = s->boot_id,
		.galvo_version = s->galvo_version,
		.start_wall_ns = s->start_wall_ns,
		.start_mono_ns = s->start_mono_ns,
		.stop_mono_ns = s->stop_mono_ns,
		.last_mono_ns = status == GALVO_OK ? last_mono_ns(run) : 0,
		.cpu_count = s->cpu_count,
		.recorder_pid = s->recorder_pid,
		.argv = s->workload.argv,
		.argv_len = s->workload.argv_len,
		.workload_pid = s->workload.pid,
		.workload_exited = s->workload.exited,
		.exit_code = s->workload.exit_code,
		.term_signal = s->workload.term_signal,
	};

	return status == GALVO_OK ? view_give("info", ret_info, &info, sizeof(info), reterr) : status;
}

galvo_status galvo_run_stream_at(const galvo_run *run, size_t i, galvo_run_stream *ret_stream,
                                 galvo_error *reterr)
{
	galvo_status status = view_at(run, i, run ? run->streams_len : 0, reterr);
	const struct run_stream *s;
	galvo_run_stream stream;

	if (status != GALVO_OK)
		return status;
	s = &run->streams[i];
	stream = (galvo_run_stream){
		.kind = (int32_t)s->kind,
		.is_present = s->present,
		.file = s->file_name,
		.frequency_hz = s->frequency_hz,
		.bytes = s->bytes,
		.messages = s->messages,
		.rows = s->rows,
		.damaged_messages = s->bad_messages,
		.missing_messages = s->missing_messages,
		.dropped_rows = s->dropped_rows,
		.ticks = s->stats.ticks,
		.missed_ticks = s->stats.missed_ticks,
		.last_mono_ns = s->last_mono_ns,
		.gpu_capturing = s->gpu_events.capturing,
		.gpu_no_room = s->gpu_events.no_room,
		.gpu_failed = s->gpu_events.failed,
		.gpu_unreached = s->gpu_events.unreached,
		.gpu_unbound = s->gpu_events.unbound,
		.gpu_reason = s->gpu_events.reason,
	};
	return view_give("stream", ret_stream, &stream, sizeof(stream), reterr);
}

galvo_status galvo_run_note_at(const galvo_run *run, size_t i, galvo_run_note *ret_note,
                               galvo_error *reterr)
{
	size_t said = run && run->session ? run->session->notes_len : 0;
	galvo_status status = view_at(run, i, run ? said + run->damages_len : 0, reterr);
	galvo_run_note note = {0};

	if (status != GALVO_OK)
		return status;
	if (i < said) {
		note.subject = run->session->notes[i].subject;
		note.text = run->session->notes[i].text;
	} else {
		const struct damage *d = &run->damages[i - said];

		note = (galvo_run_note){.subject = d->file, .text = d->text, .is_damage = 1,
		                        .is_torn_tail = d->torn_tail, .offset = d->offset};
	}
	return view_give("note", ret_note, &note, sizeof(note), reterr);
}

galvo_status galvo_run_finding_at(const galvo_run *run, size_t i, galvo_finding *ret_finding,
                                  galvo_error *reterr)
{
	galvo_status status = view_at(run, i, run && run->session ? run->session->findings_len : 0, reterr);
	const struct session_finding *f;
	galvo_finding finding;

	if (status != GALVO_OK)
		return status;
	f = &run->session->findings[i];
	finding = (galvo_finding){.id = f->id, .group = "", .title = "", .verdict = f->verdict,
	                          .need = f->need, .found = f->found, .meaning = f->meaning,
	                          .remedy = f->remedy};
	return view_give("finding", ret_finding, &finding, sizeof(finding), reterr);
}

galvo_status galvo_run_gpu_at(const galvo_run *run, size_t i, galvo_run_gpu *ret_gpu,
                              galvo_error *reterr)
{
	galvo_status status = view_at(run, i, run ? run->gpus_len : 0, reterr);
	const struct decode_stats *d;
	const struct gpu_info *g;
	galvo_run_gpu gpu;

	if (status != GALVO_OK)
		return status;
	g = &run->gpus[i].info;
	d = &run->gpus[i].decode;
	gpu = (galvo_run_gpu){
		.index = g->index,
		.parent = g->is_instance ? g->parent : UINT32_MAX,
		.name = g->name,
		.vendor = g->vendor,
		.chip = g->chip,
		.uuid = g->uuid,
		.pci = g->pci,
		.driver = g->driver,
		.peak_dram_bytes_per_s = g->peak_dram_bytes_per_s,
		.peak_pcie_bytes_per_s = g->peak_pcie_bytes_per_s,
		.peak_nvlink_bytes_per_s = g->peak_nvlink_bytes_per_s,
		.memory_bytes = g->memory_bytes,
		.sm_count = g->sm_count,
		.warps_per_sm = g->warps_per_sm,
		.compute_major = g->compute_major,
		.compute_minor = g->compute_minor,
		.is_instance = g->is_instance,
		.has_counters = run->gpus[i].has_decode,
		.samples = d->samples,
		.decodes = d->decodes,
		.decode_failures = d->failures,
		.full_images = d->full_images,
		.overflows = d->overflows,
		.restarts = d->restarts,
		.stretched = d->stretched,
		.empty = d->empty,
		.timeless = d->timeless,
		.unwritten = d->unwritten,
		.not_finite = d->not_finite,
		.missing_ns = d->missing_ns,
		.decode_ns = d->decode_ns,
		.evaluate_ns = d->evaluate_ns,
		.clock_steps = d->clock_steps,
		.interval_ns = d->interval_ns,
		.buffer_bytes = d->buffer_bytes,
		.sample_bytes = d->sample_bytes,
		.reason = d->reason,
		.note = g->note,
		.lost_mono_ns = g->lost_mono_ns,
		.foreign_pids = g->foreign_pids,
	};
	return view_give("GPU", ret_gpu, &gpu, sizeof(gpu), reterr);
}

/* ---- the time of day ----------------------------------------------------------------------- */

static const struct anchor *nearest(const struct galvo_run *run, uint64_t mono_ns)
{
	size_t low = 0, high = run->anchors_len;
	const struct anchor *a = run->anchors;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (a[middle].mono_ns < mono_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == run->anchors_len ||
	    (low && mono_ns - a[low - 1].mono_ns < a[low].mono_ns - mono_ns))
		low--;
	return &a[low];
}

galvo_status galvo_run_to_wall(const galvo_run *run, const uint64_t *mono_ns, size_t n,
                               uint64_t *ret_wall_ns, galvo_error *reterr)
{
	galvo_status status = view_at(run, 0, 1, reterr);
	const struct anchor *a;
	size_t i;

	if (status != GALVO_OK)
		return status;
	if (n && (!mono_ns || !ret_wall_ns))
		return err_set(reterr, GALVO_ERR_INVALID, "there are no instants, or no place for them");
	if (!run->anchors_len)
		return err_set(reterr, GALVO_ERR_ABSENT, "nothing in the run tells the time of day");
	for (i = 0; i < n; i++) {
		a = nearest(run, mono_ns[i]);
		ret_wall_ns[i] = a->wall_ns + (mono_ns[i] - a->mono_ns);
	}
	return GALVO_OK;
}

/* ---- processes, regions, marks -------------------------------------------------------------- */

galvo_status galvo_run_process_at(const galvo_run *run, size_t i, galvo_run_process *ret_process,
                                  galvo_error *reterr)
{
	galvo_status status = view_at(run, i, run ? run->processes_len : 0, reterr);
	const struct process_info *p;
	galvo_run_process process;

	if (status != GALVO_OK)
		return status;
	p = &run->processes[i];
	process = (galvo_run_process){
		.pid = p->pid,
		.ppid = p->ppid,
		.start_ticks = p->start_ticks,
		.first_mono_ns = p->first_mono_ns,
		.end_mono_ns = p->end_mono_ns,
		.is_root = p->root,
		.alias = p->alias,
		.comm = p->comm,
		.command = p->command,
		.has_status = p->end.has_status,
		.exit_code = p->end.exit_code,
		.term_signal = p->end.term_signal,
		.has_rusage = p->end.has_usage,
		.user_ns = p->end.user_ns,
		.system_ns = p->end.system_ns,
		.max_rss_bytes = p->end.max_rss_bytes,
		.minor_faults = p->end.minor_faults,
		.major_faults = p->end.major_faults,
		.read_blocks = p->end.read_blocks,
		.write_blocks = p->end.write_blocks,
		.voluntary_switches = p->end.voluntary_switches,
		.involuntary_switches = p->end.involuntary_switches,
	};
	return view_give("process", ret_process, &process, sizeof(process), reterr);
}

/* Number i of the things of a process, of which there are len of each. */
static galvo_status process_view_at(const galvo_run *run, size_t process, size_t i, size_t len,
                                    galvo_error *reterr)
{
	if (run && process >= run->processes_len)
		return err_set(reterr, GALVO_ERR_INVALID, "the run has no process number %zu", process);
	return view_at(run, i, len, reterr);
}

galvo_status galvo_run_usage_at(const galvo_run *run, size_t process, size_t i,
                                galvo_run_usage *ret_usage, galvo_error *reterr)
{
	galvo_status status =
		process_view_at(run, process, i, USAGE_END - USAGE_CPU_NS, reterr);
	const struct usage *u;
	galvo_run_usage usage;

	if (status != GALVO_OK)
		return status;
	u = &run->processes[process].usage[USAGE_CPU_NS + i];
	usage = (galvo_run_usage){
		.kind = (int32_t)(USAGE_CPU_NS + i),
		.is_known = u->is_known,
		.head = u->head,
		.sampled = u->sampled,
		.tail = u->tail,
		.unseen = u->unseen,
		.mixed = u->mixed,
	};
	return view_give("usage", ret_usage, &usage, sizeof(usage), reterr);
}

galvo_status galvo_run_earlier_name_at(const galvo_run *run, size_t process, size_t i,
                                       galvo_run_earlier_name *ret_name, galvo_error *reterr)
{
	const struct process_info *p = run && process < run->processes_len ? &run->processes[process]
	                                                                   : NULL;
	galvo_status status = process_view_at(run, process, i, p ? p->earlier_len : 0, reterr);
	galvo_run_earlier_name name;

	if (status != GALVO_OK)
		return status;
	name = (galvo_run_earlier_name){
		.comm = p->earlier[i].comm,
		.until_mono_ns = p->earlier[i].until_mono_ns,
	};
	return view_give("earlier name", ret_name, &name, sizeof(name), reterr);
}

galvo_status galvo_run_thread_at(const galvo_run *run, size_t i, galvo_run_thread *ret_thread,
                                 galvo_error *reterr)
{
	galvo_status status = view_at(run, i, run ? run->threads_len : 0, reterr);
	const struct thread_info *t;
	galvo_run_thread thread;

	if (status != GALVO_OK)
		return status;
	t = &run->threads[i];
	thread = (galvo_run_thread){
		.pid = t->pid,
		.tid = t->tid,
		.start_ticks = t->start_ticks,
		.first_mono_ns = t->first_mono_ns,
		.end_mono_ns = t->end_mono_ns,
		.name = t->name,
	};
	return view_give("thread", ret_thread, &thread, sizeof(thread), reterr);
}

galvo_status galvo_run_region_at(const galvo_run *run, size_t i, galvo_run_region *ret_region,
                                 galvo_error *reterr)
{
	galvo_status status = view_at(run, i, run ? run->regions_len : 0, reterr);
	const struct region *r;
	galvo_run_region region;

	if (status != GALVO_OK)
		return status;
	r = &run->regions[i];
	region = (galvo_run_region){
		.name = r->name.p,
		.name_len = r->name.n,
		.id = r->id,
		.start_mono_ns = r->start_mono_ns,
		.end_mono_ns = r->end_mono_ns,
		.pid = r->pid,
		.begin_thread = r->begin_thread,
		.end_thread = r->end_thread,
		.is_unfinished = r->unfinished,
		.is_gpu = r->domain == DOMAIN_GPU,
		.error_ns = r->error_ns,
		.stream = r->stream,
	};
	return view_give("region", ret_region, &region, sizeof(region), reterr);
}

galvo_status galvo_run_mark_at(const galvo_run *run, size_t i, galvo_run_mark *ret_mark,
                               galvo_error *reterr)
{
	galvo_status status = view_at(run, i, run ? run->marks_len : 0, reterr);
	const struct mark *m;
	galvo_run_mark mark;

	if (status != GALVO_OK)
		return status;
	m = &run->marks[i];
	mark = (galvo_run_mark){
		.name = m->name.p,
		.name_len = m->name.n,
		.mono_ns = m->mono_ns,
		.pid = m->pid,
		.thread = m->thread,
		.is_gpu = m->domain == DOMAIN_GPU,
		.error_ns = m->error_ns,
		.stream = m->stream,
	};
	return view_give("mark", ret_mark, &mark, sizeof(mark), reterr);
}
