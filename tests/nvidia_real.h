/* For tests: where the libcupti of an installed toolkit is, whose host side needs no GPU. */
#ifndef GALVO_NVIDIA_REAL_H
#define GALVO_NVIDIA_REAL_H

#include "nvidia_rig.h"

#ifdef __has_feature
#define HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif

static char real_path[256]; /* "" if there is none */

static inline void find_body(void)
{
	struct cupti c;
	FILE *f;

	f = fopen(real_path, "we");
	if (cupti_open(&c, NULL, 0, NULL) == GALVO_OK && c.cuda == 13000)
		fprintf(f, "%s", c.path);
	fclose(f);
}

/* In another process, as it stays loaded. Expectations are those of 13.0. */
static inline void find_real(void)
{
	char name[] = "/tmp/galvo-host-XXXXXX";
	ssize_t n;
	int fd;

	if (HAS_SANITIZER) {
		printf("# libcupti loads with RTLD_DEEPBIND, which sanitizers refuse: the double "
		       "alone\n");
		return;
	}
	fd = mkstemp(name);
	snprintf(real_path, sizeof(real_path), "%s", name);
	apart(find_body);
	n = read(fd, real_path, sizeof(real_path) - 1);
	real_path[n > 0 ? n : 0] = '\0';
	close(fd);
	unlink(name);
	if (!real_path[0])
		printf("# no libcupti of CUDA 13.0 here: the double alone\n");
}

#endif
