/* Reads large JSON files, one element at a time: the members of the root object, the elements of the root
 * array, and, of a member that is an array, its elements. Elements are delimited by counting brackets outside
 * strings, not parsed: a reader parses those that it needs. Memory: the size of the largest element. */
#ifndef PROFILE_READ_SCAN_H
#define PROFILE_READ_SCAN_H

#include "profile/read/stream.h"

#include "base/json.h"

/* Limit in bytes of one element and of a member's name. */
#define SCAN_ELEMENT_MOST (16 << 20)

struct scan;

struct scan_item {
	struct text key;   /* of the root's member, with escapes as written; "": the root is an array */
	struct text value; /* the element, JSON text; valid until the next call */
};

/* Returns NULL with an error that names the file. options may be NULL. */
struct scan *scan_open(const char *path, const struct profile_options *options, struct error *err);
void scan_close(struct scan *s);
/* Returns 1 with an item; 0 without further items (scan_gap tells if the file is complete); -1 with an error.
 */
int scan_next(struct scan *s, struct scan_item *item, struct error *err);
/* Reads all items of a file: hands over each one's key and its value (NULL if it is not valid JSON), which is
 * freed afterwards, and adds what is missing in the file to e->gaps (scan_gap). Returns 0; -1 with an error.
 */
int scan_each(struct arena *a, const char *path, const struct profile_options *options, struct execution *e,
	const char *unit, void (*take)(void *user, struct text key, const json_t *value), void *user,
	struct error *err);
/* Parses JSON text, also with control characters in strings, which some programs do not escape (TensorRT
 * 8.6): they become '?'. The caller owns the value; NULL if it is not valid. */
json_t *scan_json(struct text value);
/* Parses and cleans an item, which the caller owns. Returns NULL if it is not valid JSON, and counts it. */
json_t *scan_parse(struct scan *s, struct text value);
/* Walks the members of an object's text without parsing it: *rest is the object at first. Returns 1 with a
 * member, its key without quotes, its value as JSON text; 0 without further members; -1 for invalid JSON,
 * which it counts. Strings are not checked (scan_string does). */
int scan_member(struct scan *s, struct text *rest, struct text *key, struct text *value);
/* Returns a number in JSON text; NaN if the text is not a number. */
double scan_number(struct text value);
/* Returns a string value, decoded, cleaned and cut after `most` bytes; NULL for another type or invalid JSON.
 */
const char *scan_string(struct arena *a, struct text value, size_t most);
/* Counts an item as invalid. */
void scan_reject(struct scan *s);
/* Returns what is missing in the file, one line in the arena: "truncated after 1200 events; 2 events are not
 * valid JSON"; "" if it is complete. `unit`: the word for an item, "event". */
const char *scan_gap(const struct scan *s, struct arena *a, const char *unit);
bool scan_is_cut(const struct scan *s); /* call at the end: true if the text ends early or is broken */
int64_t scan_count(const struct scan *s); /* number of items so far */

#endif
