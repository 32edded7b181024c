/*
 * Configurations from files: the message ProfilerSuiteConfig, as text (.pbtxt) or as bytes.
 *
 *     galvo_config *config;
 *     if (galvo_config_load("config.pbtxt", &config, &error) == GALVO_OK) {
 *         status = galvo_suite_create(galvo_config_suite(config), &suite, &error);
 *         galvo_config_destroy(config);
 *     }
 *
 * galvo-config(5) tells of every field. A configuration may be used on any one thread at a time.
 */
#ifndef GALVO_CONFIG_H
#define GALVO_CONFIG_H

#include "suite.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct galvo_config galvo_config;

/* MALFORMED: "path:line:column: field 'a.b': expected …"; INVALID: a value that makes no sense. */
GALVO_API galvo_status galvo_config_load(const char *path, galvo_config **ret_config,
                                         galvo_error *reterr);
/* Text, or with is_text 0 a serialized message. `name` is for errors; NULL: "config". */
GALVO_API galvo_status galvo_config_parse(const void *bytes, size_t n, int32_t is_text,
                                          const char *name, galvo_config **ret_config,
                                          galvo_error *reterr);
/* What it asks for; output_dir is NULL if it has none. Borrowed until galvo_config_destroy. */
GALVO_API const galvo_suite_config *galvo_config_suite(const galvo_config *config);
/* The galvo_follow that it gives; -1 if it gives none, which is GALVO_FOLLOW_NONE. */
GALVO_API int32_t galvo_config_follow(const galvo_config *config);
/*
 * What it asks for and this machine or this galvo does not have, a line each: "subject: text". All
 * else is recorded. DONE past the last; borrowed until galvo_config_destroy.
 */
GALVO_API galvo_status galvo_config_note_at(const galvo_config *config, size_t i,
                                            const char **ret_text, galvo_error *reterr);
GALVO_API void galvo_config_destroy(galvo_config *config); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
