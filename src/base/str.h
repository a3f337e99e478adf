/* Text: byte strings with a length (a name in a model may contain any byte, also NUL), a growing buffer,
 * cleaning of untrusted text, and formatting of quantities for people. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A view of bytes owned elsewhere, usually by an arena. Not NUL-terminated in general. */
struct text {
	const char *p;
	size_t n;
};

#define TEXT(literal) ((struct text){ (literal), sizeof(literal) - 1 })

struct text text_of(const char *s); /* NULL gives the empty text */
bool text_equal(struct text a, struct text b);
bool text_is(struct text a, const char *s);
int text_compare(struct text a, struct text b); /* bytewise; a prefix sorts first */
/* True if a contains b, ignoring ASCII case. An empty b is contained in every text. */
bool text_contains(struct text a, struct text b);
struct text text_trim(struct text t); /* without blanks and tabs at both ends */
bool text_begins(struct text t, const char *with);
/* Returns the finite decimal number that fills the text; NaN for another text. */
double text_number(struct text t);

/* Growing buffer, NUL-terminated once text was added. A zeroed struct is empty (p is NULL). */
struct str {
	char *p;
	size_t n, capacity;
};

void str_add(struct str *s, const char *bytes, size_t n); /* appends a copy; may contain NUL */
void str_puts(struct str *s, const char *words);          /* appends a string, no newline */
void str_add_int(struct str *s, int64_t value);           /* appends its decimal digits */
/* Appends as printf does. */
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_clear(struct str *s); /* makes it empty and keeps its memory */
void str_free(struct str *s);  /* frees its memory; it is empty and can be used again */

/* Returns a copy that is safe to print on a terminal: valid UTF-8 is kept; control characters (C0, DEL, C1),
 * bidirectional and other invisible format characters, line and paragraph separators and invalid UTF-8 are
 * replaced by '?'. */
char *text_clean(struct arena *a, struct text t);
/* The same, written to out (t.n + 1 bytes; may be t.p). Returns the length. */
size_t text_clean_to(char *out, struct text t);
/* The same, but keeps newlines: for a text of several lines. */
size_t text_clean_lines_to(char *out, struct text t);
/* Copies a clean text to out (size bytes), truncated at a character boundary if it is too long. Returns
 * out. */
char *text_fit(char *out, size_t size, const char *clean);
/* Returns the code point at *p and moves *p past it; '?' for invalid bytes and control characters; 0 at the
 * end. */
uint32_t text_decode(const char **p);
/* Columns that a code point, and a clean text, take on a terminal: 0 for combining marks, 2 for wide ones,
 * else 1. They have their own tables: wcwidth depends on the locale. */
int text_code_columns(uint32_t code);
int text_columns(const char *clean);
/* Returns a clean text of at most `width` columns, clean itself or in the arena: a longer text loses its end,
 * or (tail) its beginning, and has ".." there. */
const char *text_cut(struct arena *a, const char *clean, int width, bool tail);
/* The same for a path: it is shortened in the middle, and keeps its end, at least the file's name if that
 * fits. mark: what stands there (".."). */
const char *text_cut_path(struct arena *a, const char *clean, int width, const char *mark);
/* The same for a sentence of one or more lines with `width` columns together: the paths in it are shortened,
 * to `most` columns, until it fits or nothing is left of them to be shortened. */
const char *text_cut_paths(struct arena *a, const char *clean, int width, int most, const char *mark);
/* Shortens names that are in one column in the middle, in place, so that different ones stay different: the
 * part that is left out is the same in all of them, if that is possible; else some end with "#2". */
void text_cut_names(struct arena *a, const char **names, int count, int width);
/* text_cut, followed by blanks to exactly `width` columns. */
const char *text_pad(struct arena *a, const char *clean, int width, bool tail);
bool text_is_clean(struct text t); /* true if text_clean would return the same bytes */
void str_add_clean(struct str *s, struct text t);
/* Adds a clean text as one word of a POSIX shell, in single quotes unless it is plain. */
void str_add_word(struct str *s, const char *clean);

/* Format a quantity for people with 3 significant digits. They write to buf (STR_QUANTITY bytes) and return
 * it. NaN (unknown) prints "-"; 0 prints 0. */
#define STR_QUANTITY 32
/* A kind of quantity: its units, each `step` times the one before it. */
struct quantity {
	double first, step;    /* of the first unit */
	int count;
	const char *units[6];  /* as they follow the number: " ms", "%" */
};
extern const struct quantity quantity_duration, quantity_bytes, quantity_count;
char *str_quantity(char *buf, const struct quantity *q, double value);
/* Changes the value into the largest unit that fits. Returns its number. */
int quantity_unit(const struct quantity *q, double *value);
char *str_duration(char *buf, double ns);   /* "412 ns" "12.3 us" "1.29 ms" "2.10 s" */
char *str_bytes(char *buf, double bytes);   /* "512 B" "9.19 MiB" */
char *str_count(char *buf, double count);   /* "974" "4.09 G" "25.6 M" */
char *str_ratio(char *buf, double ratio);   /* "0.96" "0.095": two digits at least */
char *str_flops(char *buf, double flops);   /* "974 FLOP" "4.09 GFLOP" */

/* Writes the shortest decimal text that strtof converts back to the same float, without '+' and with '.' in
 * any locale. */
char *str_float(char *buf, float value);

/* Parses t as a decimal integer with an optional '-'. Returns false on other characters, an empty text or
 * overflow. */
bool text_to_int64(struct text t, int64_t *value);

#endif
