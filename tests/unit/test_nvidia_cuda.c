/* The double of libcuda: contexts, streams that capture, events in time, misuse. */
#include <dlfcn.h>

#include "nvidia_rig.h"

static int (*make_stream)(void **, int, uint64_t); /* double_cuda_stream */
static int (*add_work)(void *, uint64_t);
static int (*ctx_destroy)(void *);

static void begin(void)
{
	void *symbol;

	stage("GH100");
	symbol = dlsym(cuda.handle, "double_cuda_stream");
	memcpy(&make_stream, &symbol, sizeof(symbol));
	symbol = dlsym(cuda.handle, "double_cuda_work");
	memcpy(&add_work, &symbol, sizeof(symbol));
	symbol = dlsym(cuda.handle, "cuCtxDestroy_v2");
	memcpy(&ctx_destroy, &symbol, sizeof(symbol));
}

static void end(void)
{
	VIOLATIONS(0);
	stage_end();
}

static void test_devices(void)
{
	int n, device, value;
	char name[64];

	begin();
	scene_add(scene, "AD102")->cuda_ordinal = -1;
	EQ(cuda.device_get_count(&n), CUDA_OK);
	EQ(n, 1);
	EQ(cuda.device_get(&device, 0), CUDA_OK);
	EQ(cuda.device_get(&device, 1), CUDA_INVALID_DEVICE);
	EQ(cuda.device_get_name(name, sizeof(name), 0), CUDA_OK);
	OK(strcmp(name, "NVIDIA GH100") == 0);
	EQ(cuda.device_get_attribute(&value, CUDA_ATTRIBUTE_SM_COUNT, 0), CUDA_OK);
	EQ(value, 132);
	EQ(cuda.device_get_attribute(&value, 4711, 0), CUDA_INVALID_VALUE);
	EQ(cuda.driver_get_version(&value), CUDA_OK);
	EQ(value, 13000);
	end();
}

static void test_events(void)
{
	void *context, *stream, *start, *stop, *untimed, *of;
	float ms = 0;

	begin();
	EQ(cuda.primary_retain(&context, 0), CUDA_OK);
	EQ(cuda.ctx_push(context), CUDA_OK);
	EQ(make_stream(&stream, CUDA_CAPTURE_NONE, 5 * MS), CUDA_OK);
	EQ(cuda.stream_get_ctx(stream, &of), CUDA_OK);
	OK(of == context);
	EQ(cuda.event_create(&start, CUDA_EVENT_DEFAULT), CUDA_OK);
	EQ(cuda.event_create(&stop, CUDA_EVENT_DEFAULT), CUDA_OK);
	EQ(cuda.event_create(&untimed, CUDA_EVENT_DISABLE_TIMING), CUDA_OK);
	EQ(cuda.event_elapsed(&ms, start, stop), CUDA_INVALID_HANDLE); /* not recorded */
	EQ(cuda.event_record(start, NULL), CUDA_OK);
	EQ(cuda.event_record(stop, stream), CUDA_OK);
	EQ(cuda.event_record(untimed, stream), CUDA_OK);
	EQ(cuda.event_query(start), CUDA_OK);
	EQ(cuda.event_query(stop), CUDA_NOT_READY);
	EQ(cuda.stream_query(stream), CUDA_NOT_READY);
	EQ(cuda.event_elapsed(&ms, start, stop), CUDA_NOT_READY);
	pass_ms(5);
	EQ(cuda.event_query(stop), CUDA_OK);
	EQ(cuda.event_elapsed(&ms, start, stop), CUDA_OK);
	OK(ms == 5.0F);
	EQ(cuda.event_elapsed(&ms, start, untimed), CUDA_INVALID_HANDLE);
	EQ(cuda.event_destroy(start) | cuda.event_destroy(stop) | cuda.event_destroy(untimed),
	   CUDA_OK);
	EQ(cuda.event_query(stop), CUDA_INVALID_HANDLE);
	OK(told("cuEventQuery: no such event"));
	VIOLATIONS(1);
	EQ(cuda.ctx_pop(&of), CUDA_OK);
	OK(of == context);
	EQ(cuda.primary_release(0), CUDA_OK);
	EQ(cuda.primary_release(0), CUDA_INVALID_CONTEXT);
	VIOLATIONS(1);
	end();
}

/*
 * In a stream that is being captured nothing may be recorded or asked: that spoils the user's
 * graph.
 */
static void test_capture(void)
{
	void *context, *stream, *event, *of;
	int status = 0;

	begin();
	EQ(cuda.ctx_create(&context, 0, 0), CUDA_OK);
	EQ(make_stream(&stream, CUDA_CAPTURE_ACTIVE, 0), CUDA_OK);
	EQ(cuda.stream_is_capturing(stream, &status), CUDA_OK);
	EQ(status, CUDA_CAPTURE_ACTIVE);
	EQ(cuda.event_create(&event, 0), CUDA_OK);
	EQ(cuda.event_record(event, stream), CUDA_OK);
	EQ(cuda.event_query(event), CUDA_CAPTURED_EVENT);
	VIOLATIONS(1);
	EQ(cuda.stream_query(stream), CUDA_STREAM_CAPTURE_UNSUPPORTED);
	VIOLATIONS(1);
	EQ(cuda.stream_is_capturing(stream, &status), CUDA_OK);
	EQ(status, CUDA_CAPTURE_INVALIDATED);
	EQ(cuda.event_record(event, stream), CUDA_STREAM_CAPTURE_INVALIDATED);
	EQ(cuda.ctx_pop(&of), CUDA_OK);
	end();
}

static void test_contexts(void)
{
	void *one, *two, *event, *of, *stream;

	begin();
	EQ(cuda.event_create(&event, 0), CUDA_INVALID_CONTEXT);
	OK(told("cuEventCreate: no current context"));
	VIOLATIONS(1);
	EQ(cuda.ctx_create(&one, 0, 0), CUDA_OK);
	EQ(make_stream(&stream, CUDA_CAPTURE_NONE, 0), CUDA_OK);
	EQ(cuda.ctx_create(&two, 0, 0), CUDA_OK);
	EQ(cuda.ctx_get_current(&of), CUDA_OK);
	OK(of == two);
	EQ(cuda.event_create(&event, 0), CUDA_OK);
	EQ(cuda.event_record(event, stream), CUDA_INVALID_HANDLE);
	OK(told("cuEventRecord: event and stream are of different contexts"));
	VIOLATIONS(1);
	EQ(cuda.ctx_pop(&of) | cuda.ctx_pop(&of), CUDA_OK);
	EQ(cuda.ctx_pop(&of), CUDA_INVALID_CONTEXT);
	EQ(cuda.ctx_push(&of), CUDA_INVALID_CONTEXT);
	VIOLATIONS(2);
	end();
}

/* What one thread captures forbids others to ask, unless they have said that they know. */
static void test_capture_of_others(void)
{
	void *context, *captured, *own, *event, *of;
	int mode = CUDA_CAPTURE_MODE_RELAXED, status = 0;

	begin();
	EQ(cuda.ctx_create(&context, 0, 0), CUDA_OK);
	EQ(cuda.stream_create(&own, CUDA_STREAM_NON_BLOCKING), CUDA_OK);
	EQ(cuda.event_create(&event, 0), CUDA_OK);
	EQ(cuda.event_record(event, own), CUDA_OK);
	EQ(make_stream(&captured, CUDA_CAPTURE_ACTIVE, 0), CUDA_OK);
	EQ(cuda.exchange_capture_mode(&mode), CUDA_OK);
	EQ(mode, CUDA_CAPTURE_MODE_GLOBAL);
	EQ(cuda.event_query(event), CUDA_OK);
	EQ(cuda.event_record(event, own), CUDA_OK);
	/* The default stream waits for the one that is being captured. */
	EQ(cuda.stream_is_capturing(NULL, &status), CUDA_STREAM_CAPTURE_IMPLICIT);
	VIOLATIONS(0);
	EQ(cuda.event_record(event, NULL), CUDA_STREAM_CAPTURE_IMPLICIT);
	VIOLATIONS(1);
	EQ(cuda.stream_is_capturing(captured, &status), CUDA_OK);
	EQ(status, CUDA_CAPTURE_INVALIDATED);
	EQ(make_stream(&captured, CUDA_CAPTURE_ACTIVE, 0), CUDA_OK);
	EQ(cuda.exchange_capture_mode(&mode), CUDA_OK);
	EQ(mode, CUDA_CAPTURE_MODE_RELAXED);
	EQ(cuda.event_query(event), CUDA_STREAM_CAPTURE_UNSUPPORTED);
	VIOLATIONS(1);
	EQ(cuda.stream_is_capturing(captured, &status), CUDA_OK);
	EQ(status, CUDA_CAPTURE_INVALIDATED);
	EQ(cuda.ctx_pop(&of), CUDA_OK);
	end();
}

/* Work, the way to the GPU, and a clock that runs 0.1 % too fast. */
static void test_time(void)
{
	void *context, *stream, *early, *late, *of;
	float ms = 0;

	begin();
	scene->gpu_delay_ns = 3000;
	scene->gpu_ppm = 1000;
	EQ(cuda.ctx_create(&context, 0, 0), CUDA_OK);
	EQ(make_stream(&stream, CUDA_CAPTURE_NONE, 0), CUDA_OK);
	EQ(cuda.event_create(&early, 0) | cuda.event_create(&late, 0), CUDA_OK);
	EQ(cuda.event_record(early, stream), CUDA_OK);
	EQ(cuda.event_query(early), CUDA_NOT_READY);
	scene->fake_mono_ns += 3000;
	EQ(cuda.event_query(early), CUDA_OK);
	EQ(add_work(stream, 10 * MS) | add_work(stream, 10 * MS), CUDA_OK);
	EQ(cuda.event_record(late, stream), CUDA_OK);
	pass_ms(19);
	EQ(cuda.event_query(late), CUDA_NOT_READY);
	pass_ms(2);
	EQ(cuda.event_elapsed(&ms, early, late), CUDA_OK);
	OK(ms == 20.02F);
	EQ(cuda.event_elapsed(&ms, late, early), CUDA_OK);
	OK(ms == -20.02F);
	EQ(add_work(NULL, 5 * MS), CUDA_OK);
	EQ(cuda.event_record(late, NULL), CUDA_OK);
	EQ(cuda.event_query(late), CUDA_NOT_READY);
	EQ(cuda.ctx_pop(&of), CUDA_OK);
	EQ(cuda.event_query(late), CUDA_INVALID_CONTEXT); /* without one */
	VIOLATIONS(1);
	end();
}

/* A context that is ruined stays so; one that is gone takes all with it. */
static void test_contexts_end(void)
{
	unsigned long long id, id_after;
	void *context, *again, *stream, *event;

	begin();
	EQ(cuda.ctx_create(&context, 0, 0), CUDA_OK);
	EQ(cuda.ctx_get_id(context, &id), CUDA_OK);
	EQ(make_stream(&stream, CUDA_CAPTURE_NONE, 0), CUDA_OK);
	EQ(cuda.event_create(&event, 0), CUDA_OK);
	EQ(cuda.event_record(event, stream), CUDA_OK);
	scene_fault(scene, FAULT_RESULT, "cuEventQuery", CUDA_ILLEGAL_ADDRESS)->times = 1;
	EQ(cuda.event_query(event), CUDA_ILLEGAL_ADDRESS);
	EQ(cuda.event_query(event), CUDA_ILLEGAL_ADDRESS);
	EQ(cuda.event_record(event, stream), CUDA_ILLEGAL_ADDRESS);
	EQ(ctx_destroy(context), CUDA_OK);
	EQ(cuda.ctx_get_id(context, &id_after), CUDA_CONTEXT_IS_DESTROYED);
	VIOLATIONS(0);
	EQ(cuda.ctx_create(&again, 0, 0), CUDA_OK);
	OK(again == context);
	EQ(cuda.ctx_get_id(again, &id_after), CUDA_OK);
	OK(id != id_after);
	EQ(cuda.event_query(event), CUDA_INVALID_HANDLE);
	OK(told("the event went with its context"));
	VIOLATIONS(1);
	EQ(cuda.stream_get_ctx(stream, &again), CUDA_INVALID_HANDLE);
	EQ(ctx_destroy(context), CUDA_OK);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"devices, one hidden", test_devices},
		{"events in time", test_events},
		{"a stream that is captured", test_capture},
		{"contexts", test_contexts},
		{"what others capture", test_capture_of_others},
		{"work, delay, another pace", test_time},
		{"contexts that are ruined or gone", test_contexts_end},
	};

	return tap_run(tests, ARRAY_LEN(tests));
}
