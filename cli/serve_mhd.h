/* libmicrohttpd, loaded when it is needed: no other command pays for it. */
#ifndef GALVO_CLI_SERVE_MHD_H
#define GALVO_CLI_SERVE_MHD_H

#include <microhttpd.h>
#include <stdbool.h>

#define MHD_FUNCTIONS(F)                                                                               \
	F(MHD_start_daemon) F(MHD_stop_daemon) F(MHD_add_connection) F(MHD_get_connection_values)      \
	F(MHD_lookup_connection_value) F(MHD_get_connection_info) F(MHD_queue_response)                \
	F(MHD_suspend_connection) F(MHD_resume_connection) F(MHD_create_response_from_callback)        \
	F(MHD_create_response_from_buffer) F(MHD_destroy_response) F(MHD_add_response_header)          \
	F(MHD_set_connection_option)

/* mhd->start_daemon(…) and so on, with the types of its header. */
struct mhd {
	void *handle;
#define MHD_MEMBER(name) __typeof__(&name) name;
	MHD_FUNCTIONS(MHD_MEMBER)
#undef MHD_MEMBER
};

bool mhd_load(struct mhd *m); /* false: stderr says what is missing */

#endif
