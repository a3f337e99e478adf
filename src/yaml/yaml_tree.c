/* A document as a tree. An alias shares the node that it names, so memory grows with the file only; but every
 * node has the size and height of its expansion, so that those who walk the tree are also limited. */
#include "config.h"

#include "yaml/yaml_read.h"

#include <stdlib.h>
#include <string.h>

struct anchor {
	struct text name;
	struct yaml_node *node;
	bool complete; /* its end was read */
};

struct loader {
	struct arena *arena;
	const char *name;
	struct yaml_reader *reader;
	struct yaml_item item;
	int nodes; /* read from the file */
	struct anchor anchors[YAML_ANCHORS_MAX];
	int anchor_count;
	struct error *err;
};

static int load_at(struct loader *l, int line, int column)
{
	return error_context(l->err, "%s:%d:%d", l->name, line, column);
}

/* An error at the current item. */
static int load_fails(struct loader *l, const char *what)
{
	error_set(l->err, "%s", what);
	return load_at(l, l->item.line, l->item.column);
}

static int load_next(struct loader *l)
{
	return yaml_next(l->reader, &l->item, l->err) ? load_at(l, l->item.line, l->item.column) : 0;
}

static struct text text_copy(struct arena *a, struct text t)
{
	return (struct text){ arena_strndup(a, t.p, t.n), t.n };
}

/* The later of two anchors with the same name is the one that counts. */
static int alias_find(struct loader *l, struct yaml_node **out)
{
	for (int i = l->anchor_count - 1; i >= 0; i--) {
		if (!text_equal(l->anchors[i].name, l->item.text))
			continue;
		if (!l->anchors[i].complete)
			return load_fails(l, "an alias inside the value that it names");
		*out = l->anchors[i].node;
		return 0;
	}
	return load_fails(l, "an alias without an anchor of its name");
}

static int anchor_add(struct loader *l, struct yaml_node *n, int *index)
{
	*index = -1;
	if (!l->item.anchor.p)
		return 0;
	if (l->anchor_count == YAML_ANCHORS_MAX)
		return load_fails(l, "too many anchors");
	*index = l->anchor_count++;
	l->anchors[*index] = (struct anchor){ text_copy(l->arena, l->item.anchor), n, false };
	return 0;
}

/* Entries in the order of reading, until their number is known. */
struct entries {
	const struct yaml_node **nodes;
	int count, capacity;
};

static int compare_keys(const void *a, const void *b)
{
	const struct yaml_node *x = *(const struct yaml_node *const *)a,
			       *y = *(const struct yaml_node *const *)b;
	int order = text_compare(x->text, y->text);
	return order		    ? order
	       : x->line != y->line ? (x->line > y->line) - (x->line < y->line)
				    : (x->column > y->column) - (x->column < y->column);
}

/* Finds equal keys by sorting them, so that a large map takes n log n. The first repetition in the file is
 * reported. */
static int check_keys(struct loader *l, const struct yaml_node *map)
{
	struct arena scratch = { 0 };
	const struct yaml_node **sorted = ARENA_ARRAY(&scratch, const struct yaml_node *, map->count + 1),
			       *twice = NULL;
	memcpy(sorted, map->keys, (size_t)map->count * sizeof(*sorted));
	qsort(sorted, (size_t)map->count, sizeof(*sorted), compare_keys);
	for (int i = 1; i < map->count; i++) {
		const struct yaml_node *k = sorted[i];
		bool earlier = !twice || k->line < twice->line ||
			       (k->line == twice->line && k->column < twice->column);
		if (text_equal(k->text, sorted[i - 1]->text) && earlier)
			twice = k;
	}
	arena_free(&scratch);
	if (!twice)
		return 0;
	error_set(l->err, "the key %.*s is given twice", twice->text.n > 40 ? 40 : (int)twice->text.n,
		twice->text.p);
	return load_at(l, twice->line, twice->column);
}

static int load_node(struct loader *l, struct yaml_node **out);

/* Reads the entries of the list or map that the current item begins. */
static int load_entries(struct loader *l, struct yaml_node *n, struct entries *e)
{
	enum yaml_kind end = n->kind == YAML_MAP ? YAML_MAP_END : YAML_LIST_END;
	for (;;) {
		struct yaml_node *one;
		if (load_next(l))
			return -1;
		if (l->item.kind == end)
			return 0;
		bool is_key = n->kind == YAML_MAP && e->count % 2 == 0;
		if (is_key && l->item.kind != YAML_SCALAR)
			return load_fails(l, "a key must be a single value");
		if (is_key && l->item.plain && text_is(l->item.text, "<<"))
			return load_fails(l, "merge keys (<<) are not supported; write the entries out");
		struct yaml_item at = l->item;
		if (load_node(l, &one))
			return -1;
		n->size += one->size; /* both are at most YAML_NODES_MAX */
		n->height = one->height + 1 > n->height ? one->height + 1 : n->height;
		l->item = at;
		if (n->size > YAML_NODES_MAX)
			return load_fails(l, "more values than the limit of 65536, aliases expanded");
		if (n->height > YAML_DEPTH_MAX)
			return load_fails(l, "nested deeper than 64 levels, aliases expanded");
		VEC_GROW(e->nodes, e->count, e->capacity);
		e->nodes[e->count++] = one;
	}
}

static int load_collection(struct loader *l, struct yaml_node *n)
{
	struct entries e = { 0 };
	int bad = load_entries(l, n, &e), step = n->kind == YAML_MAP ? 2 : 1;
	if (!bad) {
		n->count = e.count / step;
		n->values = ARENA_ARRAY(l->arena, const struct yaml_node *, n->count);
		if (n->kind == YAML_MAP)
			n->keys = ARENA_ARRAY(l->arena, const struct yaml_node *, n->count);
		for (int i = 0; i < n->count; i++) {
			n->values[i] = e.nodes[step * i + step - 1];
			if (n->kind == YAML_MAP)
				n->keys[i] = e.nodes[step * i];
		}
	}
	free(e.nodes);
	return bad || n->kind != YAML_MAP ? bad : check_keys(l, n);
}

/* Reads the value that the current item is or begins. Recursion: yaml_next limits the depth. */
static int load_node(struct loader *l, struct yaml_node **out)
{
	int anchor;
	if (l->item.kind == YAML_ALIAS)
		return alias_find(l, out);
	if (l->nodes++ == YAML_NODES_MAX)
		return load_fails(l, "more values than the limit of 65536");
	struct yaml_node *n = *out = ARENA_NEW(l->arena, struct yaml_node);
	*n = (struct yaml_node){ .kind = l->item.kind,
		.line = l->item.line,
		.column = l->item.column,
		.plain = l->item.plain,
		.size = 1,
		.height = 1 };
	if (n->kind == YAML_SCALAR)
		n->text = text_copy(l->arena, l->item.text);
	if (anchor_add(l, n, &anchor) || (n->kind != YAML_SCALAR && load_collection(l, n)))
		return -1;
	if (anchor >= 0)
		l->anchors[anchor].complete = true;
	return 0;
}

static const struct yaml_node *load_document(struct loader *l)
{
	struct yaml_node *root = NULL;
	if (load_next(l))
		return NULL;
	if (l->item.kind == YAML_END) {
		root = ARENA_NEW(l->arena, struct yaml_node);
		*root = (struct yaml_node){ .kind = YAML_SCALAR,
			.text = TEXT(""),
			.plain = true,
			.line = 1,
			.column = 1,
			.size = 1,
			.height = 1 };
		return root;
	}
	return load_node(l, &root) || load_next(l) ? NULL : root;
}

static const struct yaml_node *load_from(
	struct arena *a, const char *name, struct yaml_reader *r, struct error *err)
{
	struct loader l = { .arena = a, .name = name, .reader = r, .err = err };
	const struct yaml_node *root = load_document(&l);
	yaml_close(r);
	return root;
}

const struct yaml_node *yaml_load(struct arena *a, const char *path, size_t most, struct error *err)
{
	struct yaml_reader *r = yaml_open(path, most, err);
	return r ? load_from(a, path, r, err) : NULL;
}

const struct yaml_node *yaml_load_text(
	struct arena *a, const char *name, struct text bytes, struct error *err)
{
	return load_from(a, name, yaml_open_text(bytes), err);
}

const struct yaml_node *yaml_at(const struct yaml_node *map, const char *key)
{
	for (int i = 0; map && map->kind == YAML_MAP && i < map->count; i++)
		if (text_is(map->keys[i]->text, key))
			return map->values[i];
	return NULL;
}

bool yaml_is_null(const struct yaml_node *n)
{
	return yaml_item_is_null(&(struct yaml_item){ .kind = n->kind, .text = n->text, .plain = n->plain });
}
