/* Names are stored under keys. The key of a name of the model itself is the name. A name within a call has a
 * key with the call's number, so that it differs from all other keys, whatever names the file contains:
 *
 *     NUL, the number as four bytes, the name
 *
 * Users see the path of the call before the name (load_path). */
#include "config.h"

#include "model/load.h"

#include <stdlib.h>
#include <string.h>

static struct text key_make(struct loader *l, const struct frame *f, struct text name)
{
	uint32_t id = f ? f->id : 0;
	if (!f && (name.n == 0 || name.p[0] != '\0'))
		return name;
	str_clear(&l->key);
	str_add(&l->key, "", 1);
	str_add(&l->key, (const char *)&id, sizeof(id));
	str_add(&l->key, name.p, name.n);
	return (struct text){ l->key.p, l->key.n };
}

/* A copy of a key in the buffer; names of the file live as long as the skim. */
static struct text key_keep(struct loader *l, struct text key)
{
	return key.p == l->key.p ? (struct text){ arena_strndup(&l->scratch, key.p, key.n), key.n } : key;
}

struct text load_path(struct loader *l, const struct frame *f, struct text name)
{
	if (!f)
		return (struct text){ arena_strndup(l->arena, name.p, name.n), name.n };
	struct text t = { NULL, f->path.n + 1 + name.n };
	char *p = arena_alloc(l->arena, t.n + 1);
	memcpy(p, f->path.p, f->path.n);
	p[f->path.n] = '/';
	if (name.n)
		memcpy(p + f->path.n + 1, name.p, name.n);
	t.p = p;
	return t;
}

void scope_reserve(struct loader *l, struct scope *s, size_t count)
{
	struct value *values = ARENA_ARRAY(l->arena, struct value, count);
	if (s->count)
		memcpy(values, s->values, (size_t)s->count * sizeof(*values));
	s->values = values;
	s->capacity = (int)count;
	hash_reserve(&s->names, count);
}

static int scope_add(struct loader *l, struct scope *s, struct text key, struct text name)
{
	if (s->count == s->capacity)
		scope_reserve(l, s, (size_t)s->capacity + (size_t)s->capacity / 2 + 8);
	*hash_at(&s->names, key) = s->count;
	s->values[s->count] =
		(struct value){ .name = name, .producer = -1, .outer = -1, .shape = SHAPE_UNKNOWN };
	return s->count++;
}

/* The name that the call passes for a formal name, "" if it omits it. False if it is not a formal name. */
static bool formal_of(const struct hash *formals, ProtobufCBinaryData *given, size_t n, struct text *name)
{
	int64_t i = hash_find(formals, *name);
	if (i < 0)
		return false;
	*name = (size_t)i < n ? load_view(given[i]) : TEXT("");
	return true;
}

static bool formal_input(const struct frame *f, struct text *name)
{
	return formal_of(&f->function->inputs, f->call->input, f->call->n_input, name);
}

/* Only for outputs that the call uses: others are local names of the function. */
static bool formal_output(const struct frame *f, struct text *name)
{
	struct text given = *name;
	if (!formal_of(&f->function->outputs, f->call->output, f->call->n_output, &given) || given.n == 0)
		return false;
	*name = given;
	return true;
}

static bool scope_sees(const struct scope *s, struct text key)
{
	for (; s; s = s->parent)
		if (hash_find(&s->names, key) >= 0)
			return true;
	return false;
}

/* Counts a body's value with the name of an outer value. ONNX forbids that, but some exporters do it. */
static void scope_hides(struct scope *s, const struct frame *f, struct text key, struct text name)
{
	struct text given = name;
	bool formal = f && f == s->frame && (formal_input(f, &given) || formal_output(f, &given));
	if (!formal && !scope_sees(s->parent, key))
		return;
	if (s->hidden_count++ == 0)
		s->hidden = name;
}

int scope_define(struct loader *l, struct scope *s, const struct frame *f, struct text name, int *taken)
{
	struct text given = name;
	while (f != s->frame && formal_output(f, &name))
		f = f->parent;
	*taken = -1;
	if (f != s->frame && formal_input(f, &given))
		return -1;
	struct text key = key_make(l, f, name);
	*taken = (int)hash_find(&s->names, key);
	if (*taken >= 0)
		return -1;
	if (s->parent)
		scope_hides(s, f, key, name);
	return scope_add(l, s, key_keep(l, key), load_path(l, f, name));
}

/* The value with this key, or -1. A value of an outer graph is captured in each graph in between. */
static int scope_find(struct loader *l, struct scope *s, struct text key)
{
	int64_t found = hash_find(&s->names, key);
	if (found >= 0 || !s->parent)
		return (int)found;
	int outer = scope_find(l, s->parent, key);
	if (outer < 0)
		return -1;
	const struct value *origin = &s->parent->values[outer];
	int v = scope_add(l, s, hash_key(&s->parent->names, key), origin->name);
	struct value *captured = &s->values[v];
	captured->outer = outer;
	captured->initializer = origin->initializer;
	captured->dtype = origin->dtype;
	captured->shape = origin->shape;
	captured->kind = origin->kind;
	return v;
}

int scope_read(struct loader *l, struct scope *s, const struct frame *f, struct text name)
{
	for (;; f = f->parent) {
		int v = scope_find(l, s, key_make(l, f, name));
		if (v >= 0 || !f || !(formal_input(f, &name) || formal_output(f, &name)))
			return v;
		if (name.n == 0)
			return SCOPE_OMITTED;
	}
}

int scope_own(struct loader *l, struct scope *s, const struct frame *f, struct text name)
{
	for (;; f = f->parent) {
		int v = (int)hash_find(&s->names, key_make(l, f, name));
		if (v >= 0 || !f || f == s->frame || !formal_output(f, &name))
			return v;
	}
}

void scope_free(struct scope *s)
{
	hash_free(&s->names);
	free(s->items);
}
