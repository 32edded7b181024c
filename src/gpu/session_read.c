/* A reading: what the hardware buffer held, which of it are samples, and what is missing between them. */
#include "session.h"

/* How long samples are: those in cycles as long as the last one, should that be more than was planned. */
static uint64_t usual_length(const struct pm_session *s)
{
	return s->plan.counts_cycles && s->length_ns > s->plan.interval_ns ? s->length_ns
	                                                                    : s->plan.interval_ns;
}

/* A little off is a matter of converting times; more is another order, or a gap. */
static uint64_t slack(const struct pm_session *s, uint64_t usual)
{
	return s->is_stepped ? CLOCK_STEP_NS : usual / 2;
}

/*
 * Is it a sample to be recorded? The first one since sampling began covers all the time since it was
 * armed, as does one after a stall. How long a cycle is the first good one tells.
 */
static bool is_sample(struct pm_session *s, const struct moment *m, uint64_t latest_gpu_ns)
{
	uint64_t usual = usual_length(s);
	uint64_t length = m->end_gpu_ns - m->start_gpu_ns;
	bool is_first = s->is_first;

	if (!m->start_gpu_ns || !m->end_gpu_ns || m->end_gpu_ns > latest_gpu_ns ||
	    (!is_first && m->end_gpu_ns > m->start_gpu_ns &&
	     m->start_gpu_ns + slack(s, usual) < s->covered_gpu_ns)) {
		count_up(&s->counts->timeless, 1);
		return false;
	}
	if (m->end_gpu_ns <= m->start_gpu_ns) {
		count_up(&s->counts->empty, 1);
		return false;
	}
	s->is_first = false;
	if (is_first || (length > usual + usual / 2 && !(s->plan.counts_cycles && !s->length_ns))) {
		count_up(&s->counts->stretched, 1);
		if (!s->covered_gpu_ns)
			s->covered_gpu_ns = m->end_gpu_ns; /* time is missing from here on only */
		if (!is_first)
			s->length_ns = length;
		return false;
	}
	if (s->covered_gpu_ns && m->start_gpu_ns > s->covered_gpu_ns + slack(s, usual))
		count_up(&s->counts->missing_ns, m->start_gpu_ns - s->covered_gpu_ns);
	s->length_ns = length;
	s->covered_gpu_ns = m->end_gpu_ns;
	s->is_stepped = false;
	return true;
}

/* When each of the samples in the image was. Those that CUPTI does not tell of have no time. */
static int take_moments(struct pm_session *s, struct reading *r, size_t n)
{
	struct cupti_sample_info p = {
		.pPmSamplingObject = s->object,
		.pCounterDataImage = r->image,
		.counterDataImageSize = s->image_bytes,
	};
	size_t i;
	int result;

	pm_enter(s, "cuptiPmSamplingCounterDataGetSampleInfo");
	for (i = 0; i < n; i++) {
		p.sampleIndex = i;
		result = CUPTI_CALL(s->cupti, sample_info, &p);
		if (result)
			return pm_leave(s, result);
		r->moments[i] = (struct moment){p.startTimestamp, p.endTimestamp, (uint32_t)i};
	}
	r->len = n;
	return pm_leave(s, CUPTI_OK);
}

static void sift(struct pm_session *s, struct reading *r)
{
	uint64_t latest_gpu_ns = pm_now(s) + (uint64_t)r->offset_ns + NS_PER_S;
	size_t i, kept = 0;

	for (i = 0; i < r->len; i++)
		if (is_sample(s, &r->moments[i], latest_gpu_ns))
			r->moments[kept++] = r->moments[i];
	r->len = kept;
	if (s->covered_gpu_ns)
		atomic_store_explicit(&s->covered_mono_ns,
		                      s->covered_gpu_ns - (uint64_t)r->offset_ns,
		                      memory_order_relaxed);
}

static int decode(struct pm_session *s, struct reading *r, struct cupti_decode *p)
{
	struct cupti_data_info info = {
		.pCounterDataImage = r->image,
		.counterDataImageSize = s->image_bytes,
	};
	int result;

	*p = (struct cupti_decode){
		.pPmSamplingObject = s->object,
		.pCounterDataImage = r->image,
		.counterDataImageSize = s->image_bytes,
	};
	pm_enter(s, "cuptiPmSamplingDecodeData");
	result = pm_leave(s, CUPTI_CALL(s->cupti, decode, p));
	count_up(&s->counts->decodes, 1);
	if (p->overflow || result == CUPTI_OUT_OF_MEMORY)
		count_up(&s->counts->overflows, 1);
	if (result)
		return result;
	if (p->decodeStopReason == CUPTI_STOP_FULL)
		count_up(&s->counts->full_images, 1);
	pm_enter(s, "cuptiPmSamplingGetCounterDataInfo");
	result = pm_leave(s, CUPTI_CALL(s->cupti, data_info, &info));
	if (result)
		return result;
	s->completed = info.numCompletedSamples < s->plan.slots ? info.numCompletedSamples
	                                                        : s->plan.slots;
	return take_moments(s, r, s->completed);
}

enum verdict pm_read(struct pm_session *s, struct reading *r, int *ret_result)
{
	uint64_t begin_ns = pm_now(s);
	struct cupti_decode p;
	int result;

	r->len = s->completed = 0;
	*ret_result = result = decode(s, r, &p);
	if (result == CUPTI_OUT_OF_MEMORY)
		return READ_STUCK;
	r->offset_ns = pm_anchor(s, r->moments, r->len, &r->mono_ns);
	sift(s, r);
	count_up(&s->counts->decode_ns, pm_now(s) - begin_ns);
	if (result) {
		count_up(&s->counts->failures, 1);
		return READ_FAILED;
	}
	return p.decodeStopReason == CUPTI_STOP_FULL || s->completed > s->plan.slots / 4 * 3 ? READ_MORE
	                                                                               : READ_GOOD;
}

void pm_account_end(struct pm_session *s, uint64_t begin_mono_ns, uint64_t end_mono_ns)
{
	uint64_t usual = usual_length(s);
	uint64_t from = s->covered_gpu_ns ? s->covered_gpu_ns - (uint64_t)s->offset_ns
	                                  : begin_mono_ns;

	if (end_mono_ns > from + 2 * usual)
		count_up(&s->counts->missing_ns, end_mono_ns - from);
}
