/* Allocations that fail: the linker sends those of a test here (--wrap), which refuses or passes on. */
#ifndef GALVO_ALLOCATIONS_H
#define GALVO_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>

static long allocations_left = -1; /* -1: as many as there are */

/* Not all tests have all of them wrapped. */
void *__real_malloc(size_t n) __attribute__((weak));
void *__real_calloc(size_t n, size_t size) __attribute__((weak));
void *__real_realloc(void *p, size_t n) __attribute__((weak));
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static bool may_allocate(void)
{
	if (allocations_left == 0)
		return false;
	allocations_left -= allocations_left > 0;
	return true;
}

void *__wrap_malloc(size_t n)
{
	return may_allocate() ? __real_malloc(n) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return may_allocate() ? __real_calloc(n, size) : NULL;
}

void *__wrap_realloc(void *p, size_t n)
{
	return may_allocate() ? __real_realloc(p, n) : NULL;
}

#endif
