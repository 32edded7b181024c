/* Rows of a table by what they are about, and one after the other. */
#include "view.h"

struct instance {
	uint32_t key, process, thread; /* PROCESS_NONE if none is known */
	uint32_t first, rows_len; /* of its rows, in `rows` */
};

struct galvo_reader {
	const struct galvo_run *run;
	const struct table *table;
	struct instance *instances;
	size_t instances_len;
	uint32_t *rows;     /* instance after instance */
	uint32_t *instance; /* of each row */
	double *values;     /* of the row at hand */
	const uint32_t *next, *end; /* of the selected one's rows; NULL: of all */
	size_t row;         /* the next one, of all */
};

/* To find out whose row it is. */
struct lookup {
	struct process_index processes;
	struct thread_index threads;
	struct interner known;
};

/* What tells the things of a table apart: the key, or which process or thread of that number it is. */
static void identify(const struct table *t, const struct lookup *x, size_t row, struct instance *ret)
{
	const int32_t kind = table_key_kind(t);

	*ret = (struct instance){.key = t->key[row], .process = PROCESS_NONE, .thread = PROCESS_NONE};
	if (kind == GALVO_KEY_PROCESS)
		ret->process = process_index_at(&x->processes, t->key[row], t->mono_ns[row]);
	if (kind != GALVO_KEY_THREAD && kind != GALVO_KEY_GPU_PROCESS)
		return;
	ret->process = process_index_at(&x->processes, t->pid[row], t->mono_ns[row]);
	if (kind == GALVO_KEY_THREAD)
		ret->thread = thread_index_at(&x->threads, t->key[row], t->mono_ns[row]);
}

/* Finds the instance of each row, and counts. */
static galvo_status assign(struct galvo_reader *r, struct lookup *x, galvo_error *reterr)
{
	struct instance of = {0};
	size_t cap = 0, row, i;

	for (row = 0; row < r->table->rows_len; row++) {
		identify(r->table, x, row, &of);
		i = intern(&x->known, span_of((const char *)&of, sizeof(of)));
		if (i == INTERN_NOMEM ||
		    (i == r->instances_len &&
		     !grow_array((void **)&r->instances, &cap, i, sizeof(*r->instances), SIZE_MAX)))
			return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
		if (i == r->instances_len)
			r->instances[r->instances_len++] = of;
		r->instance[row] = (uint32_t)i;
		r->instances[i].rows_len++;
	}
	return GALVO_OK;
}

/* Numbers of rows, instance after instance. */
static void arrange(struct galvo_reader *r)
{
	uint32_t first = 0;
	size_t i, row;

	for (i = 0; i < r->instances_len; i++) {
		r->instances[i].first = first;
		first += r->instances[i].rows_len;
		r->instances[i].rows_len = 0;
	}
	for (row = 0; row < r->table->rows_len; row++) {
		struct instance *of = &r->instances[r->instance[row]];

		r->rows[of->first + of->rows_len++] = (uint32_t)row;
	}
}

static galvo_status build(struct galvo_reader *r, galvo_error *reterr)
{
	struct lookup x = {0};
	galvo_status status;

	if (r->table->rows_len >= UINT32_MAX)
		return err_set(reterr, GALVO_ERR_NOMEM, "more rows than can be numbered");
	r->rows = alloc_array(r->table->rows_len, sizeof(*r->rows));
	r->instance = alloc_array(r->table->rows_len, sizeof(*r->instance));
	r->values = alloc_array(r->table->columns_len + 1, sizeof(*r->values));
	if (!r->rows || !r->instance || !r->values)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	status = process_index_init(&x.processes, r->run, reterr);
	if (status == GALVO_OK)
		status = thread_index_init(&x.threads, r->run, reterr);
	interner_init(&x.known, SIZE_MAX);
	if (status == GALVO_OK)
		status = assign(r, &x, reterr);
	if (status == GALVO_OK)
		arrange(r);
	interner_finish(&x.known);
	thread_index_finish(&x.threads);
	process_index_finish(&x.processes);
	return status;
}

galvo_status galvo_reader_create(const galvo_run *run, size_t table, galvo_reader **ret_reader,
                                 galvo_error *reterr)
{
	const struct table *t;
	galvo_status status = view_table(run, table, &t, reterr);
	struct galvo_reader *r;

	if (status != GALVO_OK)
		return status;
	if (!ret_reader)
		return err_set(reterr, GALVO_ERR_INVALID, "there is no place for the reader");
	r = alloc_array(1, sizeof(*r));
	if (!r)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	r->run = run;
	r->table = t;
	status = build(r, reterr);
	if (status == GALVO_OK)
		*ret_reader = r;
	else
		galvo_reader_destroy(r);
	return status;
}

void galvo_reader_destroy(galvo_reader *r)
{
	if (!r)
		return;
	free(r->instances);
	free(r->rows);
	free(r->instance);
	free(r->values);
	free(r);
}

static const char *name_of(const struct galvo_reader *r, const struct instance *of)
{
	const int32_t kind = table_key_kind(r->table);
	const struct process_info *p;

	if (kind == GALVO_KEY_GPU)
		return of->key < r->run->gpus_len ? r->run->gpus[of->key].info.name : "";
	if (kind == GALVO_KEY_THREAD)
		return of->thread != PROCESS_NONE ? r->run->threads[of->thread].name : "";
	if (of->process != PROCESS_NONE) {
		p = &r->run->processes[of->process];
		return p->alias[0] ? p->alias : p->comm;
	}
	return of->key < r->table->names_len ? r->table->names[of->key] : "";
}

galvo_status galvo_reader_instance_at(const galvo_reader *r, size_t i, galvo_instance *ret_instance,
                                      galvo_error *reterr)
{
	const struct instance *of;
	galvo_instance instance;
	size_t k;

	if (!r)
		return err_set(reterr, GALVO_ERR_INVALID, "there is no reader");
	if (i >= r->instances_len)
		return GALVO_DONE;
	of = &r->instances[i];
	instance = (galvo_instance){
		.key = of->key,
		.process = of->process == PROCESS_NONE ? SIZE_MAX : of->process,
		.thread = of->thread == PROCESS_NONE ? SIZE_MAX : of->thread,
		.name = name_of(r, of),
		.rows_len = of->rows_len,
		.rows = r->rows + of->first,
	};
	for (k = 0; r->table->scope == SCOPE_DEVICE && k < r->run->devices_len; k++)
		if (strcmp(r->run->devices[k].name, instance.name) == 0) {
			instance.is_whole_disk = r->run->devices[k].whole;
			instance.is_stacked = r->run->devices[k].stacked;
		}
	return view_give("instance", ret_instance, &instance, sizeof(instance), reterr);
}

galvo_status galvo_reader_select(galvo_reader *r, size_t instance, galvo_error *reterr)
{
	if (!r)
		return err_set(reterr, GALVO_ERR_INVALID, "there is no reader");
	if (instance != SIZE_MAX && instance >= r->instances_len)
		return err_set(reterr, GALVO_ERR_INVALID, "there is no instance %zu", instance);
	r->row = 0;
	r->next = r->end = NULL;
	if (instance != SIZE_MAX) {
		r->next = r->rows + r->instances[instance].first;
		r->end = r->next + r->instances[instance].rows_len;
	}
	return GALVO_OK;
}

galvo_status galvo_reader_next(galvo_reader *r, galvo_row *ret_row, galvo_error *reterr)
{
	galvo_status status;
	galvo_row row;
	size_t at, c;

	if (!r)
		return err_set(reterr, GALVO_ERR_INVALID, "there is no reader");
	if (r->next ? r->next == r->end : r->row == r->table->rows_len)
		return GALVO_DONE;
	at = r->next ? *r->next : r->row;
	for (c = 0; c < r->table->columns_len; c++)
		r->values[c] = r->table->values[c][at];
	row = (galvo_row){
		.mono_ns = r->table->mono_ns[at],
		.key = r->table->key[at],
		.instance = r->instance[at],
		.values = r->values,
		.values_len = r->table->columns_len,
	};
	status = view_give("row", ret_row, &row, sizeof(row), reterr);
	if (status == GALVO_OK && r->next)
		r->next++;
	else if (status == GALVO_OK)
		r->row++;
	return status;
}
