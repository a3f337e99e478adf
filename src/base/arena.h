/* Growing arenas: many allocations with one lifetime (a model, a plan, a frame), freed together. Out of
 * memory aborts. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *block; /* newest block; NULL if empty */
	size_t total;              /* bytes allocated, for tests and statistics */
};

/* Returns zeroed memory aligned for integers, doubles and pointers. Size 0 gives a valid pointer. A zeroed
 * struct arena is an empty arena. */
void *arena_alloc(struct arena *a, size_t size);
/* The same for count * size bytes. Overflow aborts: callers must limit counts that come from files. */
void *arena_calloc(struct arena *a, size_t count, size_t size);
/* Returns a copy of n bytes, followed by a NUL. */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Moves the blocks of `from` to `to`: pointers into them stay valid until `to` is freed. `from` is empty
 * afterwards. */
void arena_adopt(struct arena *to, struct arena *from);
/* Frees what was allocated since the mark, of the same arena, which was not emptied meanwhile: for loops that
 * need memory in each pass only. */
struct arena_mark {
	struct arena_block *block;
	size_t used, total;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_return(struct arena *a, struct arena_mark to);
/* Empties the arena but keeps its newest block for later allocations. */
void arena_clear(struct arena *a);
/* Frees every block; the arena is empty and usable again. */
void arena_free(struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_calloc((a), (size_t)(n), sizeof(type)))

/* Tunes malloc: freed memory is kept for reuse, up to 512 MiB, instead of being returned to the kernel.
 * main() calls it before anything else. */
void base_memory_keep(void);
/* Returns freed memory to the kernel after all, if it is more than half of the memory in use and BASE_SPARE.
 * Takes microseconds if it is not. */
#define BASE_SPARE ((size_t)16 << 20)
void base_memory_trim(void);
/* malloc family that aborts when memory runs out. */
void *base_malloc(size_t size);
void *base_calloc(size_t count, size_t size);
void *base_realloc(void *p, size_t size);
char *base_strdup(const char *s);

/* Makes room for one more element in a growing array: VEC_GROW(list->items, list->count, list->capacity). */
#define VEC_GROW(items, count, capacity)                                                                     \
	do {                                                                                                 \
		if ((size_t)(count) >= (size_t)(capacity)) {                                                 \
			(capacity) = (capacity) ? (capacity) * 2 : 16;                                       \
			(items) = base_realloc((items), (size_t)(capacity) * sizeof(*(items)));              \
		}                                                                                            \
	} while (0)

#endif
