/* Opens libcuda and libcupti, and wakes the driver up on a thread that may be left behind. */
#include "driver.h"

static void *begin_main(void *arg)
{
	struct driver *d = arg;

	pthread_setname_np(pthread_self(), "galvo-gpu-begin");
	if (cupti_begin(&d->cupti, &d->cuda, &d->begin_error) == GALVO_OK)
		d->begin_error.status = GALVO_OK;
	clock_wake(&d->begun);
	return NULL;
}

/* cuInit wakes GPUs up, which takes seconds, and may not return where one is broken. */
static galvo_status begin(struct driver *d, uint64_t timeout_ns, galvo_error *reterr)
{
	pthread_t thread;
	int failed = thread_start(&thread, begin_main, d);

	if (failed)
		return err_sys(reterr, failed, "cannot start a thread");
	if (!flag_await(&d->begun, timeout_ns)) {
		thread_leave(thread);
		d->is_left_behind = true;
		return err_set(reterr, GALVO_ERR_STATE, "cuInit has not returned for %llu s",
		               (unsigned long long)(timeout_ns / NS_PER_S));
	}
	pthread_join(thread, NULL);
	if (d->begin_error.status != GALVO_OK && reterr)
		*reterr = d->begin_error;
	return (galvo_status)d->begin_error.status;
}

/*
 * A libcupti that the program has loaded is taken, whatever else there is: two of them in a process do
 * not go together.
 */
galvo_status driver_open(struct driver *d, const struct nvidia_places *cuda,
                         const struct nvidia_places *cupti, uint64_t timeout_ns,
                         galvo_error *reterr)
{
	static const struct nvidia_places anywhere;
	struct nvidia_places loaded = cupti ? *cupti : anywhere;
	galvo_status status = cuda_open(&d->cuda, cuda ? cuda : &anywhere, reterr);

	if (status)
		return status;
	loaded.only_loaded = true;
	d->was_loaded = cupti_open(&d->cupti, &loaded, d->cuda.version, NULL) == GALVO_OK;
	if (!d->was_loaded)
		status = cupti_open(&d->cupti, cupti ? cupti : &anywhere, d->cuda.version, reterr);
	return status ? status : begin(d, timeout_ns, reterr);
}
