/* The catalog of columns in text form: written, and read to be laid over the built-in one. */
#include <fcntl.h>

#include "galvo/metrics.h"
#include "internal.h"
#include "metric_catalog.pb-c.h"

enum { CATALOG_TEXT_MAX = 4 << 20, DESCRIPTORS_MAX = 4096 };

static galvo_status check_names(const char *path, const Galvo__MetricCatalog *catalog,
                                galvo_error *reterr)
{
	struct metric_name name;
	size_t i;

	if (catalog->n_descriptors > DESCRIPTORS_MAX)
		return err_set(reterr, GALVO_ERR_INVALID, "%s: more than %d descriptors", path,
		               DESCRIPTORS_MAX);
	for (i = 0; i < catalog->n_descriptors; i++)
		if (!metric_name_split(catalog->descriptors[i]->fqn, &name))
			return err_set(reterr, GALVO_ERR_INVALID,
			               "%s: descriptor %zu: fqn: expected entity__counter…, got '%.64s'", path,
			               i + 1, catalog->descriptors[i]->fqn);
	return GALVO_OK;
}

galvo_status catalog_load(const char *path, struct buf *into, galvo_error *reterr)
{
	const ProtobufCMessageDescriptor *message = &galvo__metric_catalog__descriptor;
	Galvo__MetricCatalog *catalog;
	struct span text;
	struct buf file;
	galvo_status status;

	buf_init(&file, CATALOG_TEXT_MAX);
	buf_init(into, CATALOG_BYTES_MAX);
	status = file_read(AT_FDCWD, path, &file, &text, reterr);
	if (status == GALVO_OK)
		status = text_parse(message, path, text, into, reterr);
	buf_finish(&file);
	if (status == GALVO_OK)
		status = message_unpack(message, path, span_of(into->p, into->len), &catalog, reterr);
	if (status != GALVO_OK)
		return status;
	status = check_names(path, catalog, reterr);
	galvo__metric_catalog__free_unpacked(catalog, NULL);
	return status;
}

galvo_status galvo_catalog_write(galvo_write_fn write, void *ctx, galvo_error *reterr)
{
	struct buf bytes, text;
	galvo_status status;

	buf_init(&bytes, CATALOG_BYTES_MAX);
	buf_init(&text, CATALOG_TEXT_MAX);
	status = catalog_pack(catalog_at, &bytes, reterr);
	if (status == GALVO_OK)
		status = text_print(&galvo__metric_catalog__descriptor, span_of(bytes.p, bytes.len), &text,
		                    reterr);
	if (status == GALVO_OK && write(ctx, text.p, text.len) != 0)
		status = err_set(reterr, GALVO_ERR_CALLBACK, "stopped by the caller");
	buf_finish(&bytes);
	buf_finish(&text);
	return status;
}
