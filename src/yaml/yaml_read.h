/* YAML files: a stream of items, and a tree built on it. Files may be hostile: their size, depth and number
 * of values are limited, also after aliases. Only this room uses libyaml. */
#ifndef YAML_YAML_READ_H
#define YAML_YAML_READ_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum yaml_kind { YAML_END, YAML_SCALAR, YAML_LIST, YAML_MAP, YAML_LIST_END, YAML_MAP_END, YAML_ALIAS };

/* --- items, one at a time --- */

struct yaml_item {
	enum yaml_kind kind; /* YAML_LIST and YAML_MAP begin one; a map's items alternate key and value */
	struct text text;    /* of a scalar, or the name of an alias; any bytes; valid until the next item */
	struct text anchor;  /* "&name" of a scalar, list or map; p is NULL without one */
	bool plain;	     /* a scalar without quotes */
	int line, column;    /* from 1 */
};

struct yaml_reader;

/* Opens a regular file of at most `most` bytes; NULL on errors, which begin with the path. Blocks neither on
 * a pipe nor on a device. */
struct yaml_reader *yaml_open(const char *path, size_t most, struct error *err);
/* The same for bytes in memory, which must outlive the reader. */
struct yaml_reader *yaml_open_text(struct text bytes);
void yaml_close(struct yaml_reader *r);
/* Reads the next item of the only document; YAML_END after it, also in an empty file. Returns -1 if the text
 * is not YAML, nested deeper than YAML_DEPTH_MAX, or has a second document: the error does not name the
 * place, which is in *item. */
#define YAML_DEPTH_MAX 64
int yaml_next(struct yaml_reader *r, struct yaml_item *item, struct error *err);

/* True for a value that sets nothing: no text at all, "~" or "null", without quotes. */
bool yaml_item_is_null(const struct yaml_item *item);

/* --- a whole document --- */

struct yaml_node {
	enum yaml_kind kind; /* YAML_SCALAR, YAML_LIST or YAML_MAP */
	struct text text;    /* of a scalar: any bytes, followed by a NUL */
	bool plain;
	int line, column;		 /* from 1; those of the anchored value for an alias */
	int count;			 /* entries of a list or map */
	const struct yaml_node **keys;	 /* of a map: scalars, all different */
	const struct yaml_node **values; /* of a list or map */
	int size, height;		 /* number of nodes and of levels, aliases expanded */
};

/* Reads a document of at most `most` bytes and YAML_NODES_MAX values into the arena. An alias is the anchored
 * node itself; those that expand to more than the limits, or contain themselves, are errors, as are a key
 * given twice, a key that is not a scalar, and "<<". An empty file gives a null scalar. NULL on errors,
 * which begin with "path:line:column: ". */
#define YAML_NODES_MAX 65536
#define YAML_ANCHORS_MAX 256
const struct yaml_node *yaml_load(struct arena *a, const char *path, size_t most, struct error *err);
/* The same for bytes in memory; `name` is used in errors. */
const struct yaml_node *yaml_load_text(
	struct arena *a, const char *name, struct text bytes, struct error *err);

/* The value at a key of a map; NULL if it is absent or `map` is NULL or no map. */
const struct yaml_node *yaml_at(const struct yaml_node *map, const char *key);
bool yaml_is_null(const struct yaml_node *n);

#endif
