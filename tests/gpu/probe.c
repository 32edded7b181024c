/*
 * Asks a GPU, its driver, CUPTI and NVML what their documents leave open; the answer to a question is
 * one line of JSON.
 *
 * usage: probe detect       exits with 0 if there is a GPU, with 77 if not, and says why
 *        probe list         the questions: name, seconds it may take, what is asked
 *        probe ask NAME     {"question": NAME, "asks": "…", "answer": "…", "figures": {…}}
 *
 * Each is asked in a process of its own, as calls may crash or hang. No setting of the card is
 * changed. What a step does goes to standard error.
 */
#include "probe.h"

#include <math.h>
#include <stdarg.h>
#include <unistd.h>

struct cuda cuda;
struct cupti cupti;
struct nvml nvml;
static struct buf text, figures;

/* ---- the answer ---------------------------------------------------------------------------------- */

void answer(const char *fmt, ...)
{
	char sentence[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	buf_printf(&text, "%s%s", text.len ? "; " : "", sentence);
}

static void put_name(const char *name)
{
	if (figures.len)
		buf_put_str(&figures, ", ");
	buf_put_json(&figures, span_str(name));
	buf_put_str(&figures, ": ");
}

void figure(const char *name, double value)
{
	put_name(name);
	buf_put_number(&figures, value);
}

void figure_text(const char *name, const char *value)
{
	put_name(name);
	buf_put_json(&figures, span_str(value));
}

static bool good(const char *call, int result, const char *name)
{
	if (result == 0)
		return true;
	if (name)
		answer("%s gives %d %s", call, result, name);
	else
		answer("%s gives %d", call, result);
	return false;
}

bool good_cupti(const char *call, int result)
{
	return good(call, result, result ? cupti_result_name(result) : NULL);
}

bool good_cuda(const char *call, int result)
{
	return good(call, result, result ? cuda_result_name(result) : NULL);
}

/* ---- libraries ----------------------------------------------------------------------------------- */

static bool opened(galvo_status status, const galvo_error *e)
{
	if (status != GALVO_OK)
		answer("%s", e->text);
	return status == GALVO_OK;
}

/* As galvo finds them. */
static const struct env_places *places(void)
{
	static struct env_places found;
	static bool is_asked;

	if (!is_asked)
		env_places_find(&found, NULL, NULL);
	is_asked = true;
	return &found;
}

bool has_cuda(void)
{
	galvo_error e = {0};
	int n = 0;

	if (cuda.handle)
		return true;
	if (!opened(cuda_open(&cuda, &places()->driver, &e), &e) ||
	    !good_cuda("cuInit", cuda.init(0)) ||
	    !good_cuda("cuDeviceGetCount", cuda.device_get_count(&n)))
		return false;
	if (n == 0)
		answer("no device");
	return n > 0;
}

bool has_cupti(void)
{
	galvo_error e = {0};

	if (cupti.handle)
		return true;
	return has_cuda() && opened(cupti_open(&cupti, &places()->cupti, cuda.version, &e), &e) &&
	       opened(cupti_begin(&cupti, &cuda, &e), &e);
}

bool has_nvml(void)
{
	galvo_error e = {0};

	return nvml.handle || opened(nvml_open(&nvml, &places()->driver, &e), &e);
}

const char *chip(void)
{
	struct cupti_chip_name c = {.deviceIndex = 0};

	if (!good_cupti("cuptiDeviceGetChipName", CUPTI_CALL(&cupti, chip_name, &c)))
		return "";
	return c.pChipName;
}

void *nvml_device(void)
{
	static void *device;
	char id[64] = "";
	int ordinal = 0;

	if (device || !has_nvml() || !has_cuda())
		return device;
	if (cuda.device_get(&ordinal, 0) == CUDA_OK &&
	    cuda.device_get_pci_bus_id(id, sizeof(id), ordinal) == CUDA_OK && nvml.by_pci_bus_id &&
	    nvml.by_pci_bus_id(id, &device) != NVML_OK)
		device = NULL;
	if (!device && nvml.by_index(0, &device) != NVML_OK)
		device = NULL;
	return device;
}

double sm_mhz(void)
{
	void *device = nvml_device();
	unsigned mhz = 0;

	if (!device || !nvml.clock || nvml.clock(device, NVML_SM, &mhz) != NVML_OK)
		return NAN;
	return (double)mhz;
}

/* ---- time ---------------------------------------------------------------------------------------- */

uint64_t now_ns(void)
{
	return clock_real.mono_ns(&clock_real);
}

uint64_t wall_ns(void)
{
	return clock_real.wall_ns(&clock_real);
}

void rest_ms(unsigned ms)
{
	_Atomic uint32_t never = 0;

	clock_real.sleep_until(&clock_real, now_ns() + ms * MS, &never);
}

double us_since(uint64_t begin_ns)
{
	return (double)(now_ns() - begin_ns) / 1e3;
}

/* ---- numbers -------------------------------------------------------------------------------------- */

void list_add(struct list *l, double v)
{
	if (l->n == l->cap) {
		void *at = l->v;

		if (!grow_array(&at, &l->cap, l->n, sizeof(*l->v), 1 << 24))
			return;
		l->v = at;
	}
	l->v[l->n++] = v;
}

void list_free(struct list *l)
{
	free(l->v);
	*l = (struct list){NULL, 0, 0};
}

static int by_value(const void *a, const void *b)
{
	double x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

double list_at(struct list *l, double share)
{
	if (l->n == 0)
		return NAN;
	qsort(l->v, l->n, sizeof(*l->v), by_value);
	return l->v[(size_t)(share * (double)(l->n - 1) + 0.5)];
}

double list_mean(const struct list *l)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < l->n; i++)
		sum += l->v[i];
	return l->n ? sum / (double)l->n : NAN;
}

/* ---- what is asked -------------------------------------------------------------------------------- */

static const struct question *const groups[] = {machine_questions, session_questions,
                                                life_questions, kernel_questions};

static const struct question *question_of(const char *name)
{
	const struct question *q;
	size_t i;

	for (i = 0; i < ARRAY_LEN(groups); i++)
		for (q = groups[i]; q->name; q++)
			if (strcmp(q->name, name) == 0)
				return q;
	return NULL;
}

static int list(void)
{
	const struct question *q;
	size_t i;

	for (i = 0; i < ARRAY_LEN(groups); i++)
		for (q = groups[i]; q->name; q++)
			printf("%s %u %s\n", q->name, q->limit_s, q->text);
	return 0;
}

static int ask(const struct question *q)
{
	struct buf line;
	int written;

	q->ask();
	buf_init(&line, 1 << 20);
	buf_put_str(&line, "{\"question\": ");
	buf_put_json(&line, span_str(q->name));
	buf_put_str(&line, ", \"asks\": ");
	buf_put_json(&line, span_str(q->text));
	buf_put_str(&line, ", \"answer\": ");
	buf_put_json(&line, span_of(text.p, text.len));
	buf_put_str(&line, ", \"figures\": {");
	buf_put(&line, figures.p, figures.len);
	buf_put_str(&line, "}}\n");
	written = file_write_all(STDOUT_FILENO, line.p, line.len, &(size_t){0});
	written |= line.failed;
	buf_finish(&line);
	return written != 0;
}

static int detect(void)
{
	if (has_cuda())
		return 0;
	printf("%.*s\n", (int)text.len, text.p);
	return 77;
}

int main(int argc, char **argv)
{
	const struct question *q = argc == 3 ? question_of(argv[2]) : NULL;

	buf_init(&text, 1 << 16);
	buf_init(&figures, 1 << 18);
	if (argc == 2 && strcmp(argv[1], "detect") == 0)
		return detect();
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list();
	if (q && strcmp(argv[1], "ask") == 0)
		return ask(q);
	fprintf(stderr, "usage: probe detect | probe list | probe ask NAME\n");
	return 2;
}
