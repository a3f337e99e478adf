/* YAML files as a stream of items. Files may be hostile: their size and depth are limited, and an alias is an
 * item that names its anchor, never expanded. Only this room uses libyaml. */
#ifndef YAML_YAML_READ_H
#define YAML_YAML_READ_H

#include "base/error.h"
#include "base/str.h"

enum yaml_kind { YAML_END, YAML_SCALAR, YAML_LIST, YAML_MAP, YAML_LIST_END, YAML_MAP_END, YAML_ALIAS };

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

#endif
