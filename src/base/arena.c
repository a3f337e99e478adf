/* Arenas as lists of blocks, each larger than the last: an allocation is an addition, and all are freed at
 * once. Also what malloc keeps of freed memory, and when it returns that to the kernel. */
#include "config.h"

#include "base/arena.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENA_ALIGN (sizeof(union arena_word))
#define ARENA_FIRST_BLOCK 4096
#define ARENA_LAST_BLOCK (1 << 20)
#define ARENA_MAPPED ((size_t)32 << 20) /* malloc maps such blocks */

union arena_word {
	int64_t i;
	double d;
	void *p;
};

struct arena_block {
	struct arena_block *before;
	size_t used, size;
	bool blank; /* the free part is zero */
	union arena_word bytes[];
};

static void out_of_memory(void)
{
	fputs("benanza: out of memory\n", stderr);
	abort();
}

#define LARGE_PAGE ((uintptr_t)2 << 20)
#define LARGE_BLOCK ((size_t)31 << 20) /* below M_MMAP_THRESHOLD, so that it comes from the heap */
#define LARGE_BLOCKS 4

/* By default malloc returns large blocks to the kernel, which then clears the pages of the next one: a third
 * of the time for a large model. The first 124 MiB of the heap also have huge pages if the kernel grants
 * them: one page fault instead of 512. Blocks taken one after the other and freed are the top of the heap. */
void base_memory_keep(void)
{
	void *blocks[LARGE_BLOCKS];
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 512 << 20);
	for (int i = 0; i < LARGE_BLOCKS; i++)
		blocks[i] = malloc(LARGE_BLOCK);
	uintptr_t from = ((uintptr_t)blocks[0] + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
	uintptr_t to = ((uintptr_t)blocks[LARGE_BLOCKS - 1] + LARGE_BLOCK) & ~(LARGE_PAGE - 1);
	bool adjacent = to > from && to - from <= LARGE_BLOCKS * (LARGE_BLOCK + 64);
	if (blocks[0] && blocks[LARGE_BLOCKS - 1] && adjacent)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
	for (int i = LARGE_BLOCKS - 1; i >= 0; i--)
		free(blocks[i]);
}

/* Resident memory without that of files; 0: unknown. */
static size_t resident_bytes(void)
{
	char text[128] = "";
	unsigned long size, all, files;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	bool known = n > 0 && sscanf(text, "%lu %lu %lu", &size, &all, &files) == 3 && all > files;
	return known ? (all - files) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

void base_memory_trim(void)
{
	struct mallinfo2 m = mallinfo2();
	size_t used = m.uordblks + m.hblkhd, resident = resident_bytes();
	if (resident > used + used / 2 + BASE_SPARE)
		malloc_trim(0);
}

void *base_malloc(size_t size)
{
	void *p = malloc(size ? size : 1);
	if (!p)
		out_of_memory();
	return p;
}

void *base_calloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);
	if (!p)
		out_of_memory();
	return p;
}

void *base_realloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		out_of_memory();
	return p;
}

char *base_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	return memcpy(base_malloc(n), s, n);
}

/* Huge pages, if the kernel grants them: one page fault instead of 512. */
static void pages_ask(const struct arena_block *b)
{
	uintptr_t from = ((uintptr_t)b + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
	uintptr_t to = ((uintptr_t)b->bytes + b->size) & ~(LARGE_PAGE - 1);
	madvise((void *)from, to - from, MADV_HUGEPAGE);
}

static struct arena_block *arena_grow(struct arena *a, size_t need)
{
	size_t size = a->block ? a->block->size * 2 : ARENA_FIRST_BLOCK;
	if (size > ARENA_LAST_BLOCK)
		size = ARENA_LAST_BLOCK;
	if (size < need)
		size = need;
	bool blank = size > ARENA_LAST_BLOCK; /* calloc need not clear what comes from the kernel */
	struct arena_block *b = blank ? base_calloc(1, sizeof(*b) + size) : base_malloc(sizeof(*b) + size);
	b->before = a->block;
	b->used = 0;
	b->size = size;
	b->blank = blank;
	if (size >= ARENA_MAPPED)
		pages_ask(b);
	a->block = b;
	return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
	if (size > SIZE_MAX / 2)
		out_of_memory();
	size = (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	struct arena_block *b = a->block;
	if (!b || b->size - b->used < size)
		b = arena_grow(a, size);
	void *p = (char *)b->bytes + b->used;
	b->used += size;
	a->total += size;
	return b->blank ? p : memset(p, 0, size);
}

void *arena_calloc(struct arena *a, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		out_of_memory();
	return arena_alloc(a, count * size);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);
	if (n)
		memcpy(p, s, n);
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	char brief[256]; /* large enough for most texts: glibc writes what exceeds the buffer byte by byte */
	int n = vsnprintf(brief, sizeof(brief), fmt, ap);
	va_end(ap);
	char *p = arena_alloc(a, (size_t)n + 1);
	if ((size_t)n < sizeof(brief))
		memcpy(p, brief, (size_t)n + 1);
	else
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}

/* Inserts the blocks after the newest one of `to`, so that its free space is still used. */
void arena_adopt(struct arena *to, struct arena *from)
{
	struct arena_block *oldest = from->block;
	if (!oldest)
		return;
	while (oldest->before)
		oldest = oldest->before;
	oldest->before = to->block ? to->block->before : NULL;
	if (to->block)
		to->block->before = from->block;
	else
		to->block = from->block;
	to->total += from->total;
	*from = (struct arena){ 0 };
}

struct arena_mark arena_mark(const struct arena *a)
{
	return (struct arena_mark){ a->block, a->block ? a->block->used : 0, a->total };
}

void arena_return(struct arena *a, struct arena_mark to)
{
	while (a->block != to.block) {
		struct arena_block *before = a->block->before;
		free(a->block);
		a->block = before;
	}
	if (a->block && a->block->used != to.used) {
		a->block->used = to.used;
		a->block->blank = false;
	}
	a->total = to.total;
}

void arena_clear(struct arena *a)
{
	struct arena_block *newest = a->block;
	if (!newest)
		return;
	a->block = newest->before;
	arena_free(a);
	*newest = (struct arena_block){ .size = newest->size };
	a->block = newest;
}

void arena_free(struct arena *a)
{
	for (struct arena_block *b = a->block; b;) {
		struct arena_block *before = b->before;
		free(b);
		b = before;
	}
	*a = (struct arena){ 0 };
}
