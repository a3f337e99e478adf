/* Text: names as length + bytes (a name in a model may hold anything, NUL included), a growing buffer,
 * cleaning of hostile text, and the one place where quantities become words a person reads. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Bytes that belong to somebody else (usually an arena). Not NUL-terminated in general. */
struct text {
	const char *p;
	size_t n;
};

#define TEXT(literal) ((struct text){ (literal), sizeof(literal) - 1 })

struct text text_of(const char *s); /* NULL gives the empty text */
bool text_equal(struct text a, struct text b);
bool text_is(struct text a, const char *s);
int text_compare(struct text a, struct text b); /* bytewise, shorter first */
/* Is b found in a, ASCII case ignored? The empty b is found everywhere. */
bool text_contains(struct text a, struct text b);

/* Growing, always NUL-terminated buffer. A zeroed struct is empty; str_free gives the memory back. */
struct str {
	char *p;
	size_t n, capacity;
};

void str_add(struct str *s, const char *bytes, size_t n);
void str_puts(struct str *s, const char *words);
void str_add_int(struct str *s, int64_t value);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_clear(struct str *s);
void str_free(struct str *s);

/* A copy that is safe on a terminal: valid UTF-8 kept, control and escape characters (C0, DEL, C1,
 * bidirectional overrides, line and paragraph separators) and broken UTF-8 replaced by '?'. */
char *text_clean(struct arena *a, struct text t);
/* The same into out, t.n + 1 bytes; out may be where t lies. Returns the length. */
size_t text_clean_to(char *out, struct text t);
/* The same, but newlines are kept: for a text that is a list of lines. */
size_t text_clean_lines_to(char *out, struct text t);
/* A copy of a clean text in size bytes, cut between two characters where it is too long. Returns out. */
char *text_fit(char *out, size_t size, const char *clean);
bool text_is_clean(struct text t); /* text_clean would return the same bytes */
void str_add_clean(struct str *s, struct text t);

/* Quantities for people, written to buf (STR_QUANTITY bytes are enough), which is returned. NaN, meaning
 * unknown, prints "-"; 0 prints as 0. */
#define STR_QUANTITY 32
char *str_duration(char *buf, double ns);   /* "412 ns" "12.3 us" "1.29 ms" "2.10 s" : 3 significant digits */
char *str_bytes(char *buf, double bytes);   /* "512 B" "9.19 MiB" */
char *str_count(char *buf, double count);   /* "974" "4.09 G" "25.6 M" */

/* Shortest decimal text that reads back to the same float, without '+' and locale-free. */
char *str_float(char *buf, float value);

/* Decimal integer that fills the whole of t, else false; no sign allowed but '-', overflow is false. */
bool text_to_int64(struct text t, int64_t *value);

#endif
