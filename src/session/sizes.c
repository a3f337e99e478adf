/* Values of dimensions: lists in which a name has one value and its source. */
#include "config.h"

#include "session/session_private.h"

#include <stdlib.h>

void sizes_put(struct sizes *z, struct text name, int64_t value, const char *source)
{
	int at = 0;
	while (at < z->count && !text_equal(z->dims[at].name, name))
		at++;
	if (at == z->count) {
		struct dim_binding *dims = ARENA_ARRAY(&z->arena, struct dim_binding, at + 1);
		const char **sources = ARENA_ARRAY(&z->arena, const char *, at + 1);
		for (int i = 0; i < at; i++) {
			dims[i] = z->dims[i];
			sources[i] = z->sources[i];
		}
		z->dims = dims;
		z->sources = sources;
		z->dims[z->count++].name = (struct text){ arena_strndup(&z->arena, name.p, name.n), name.n };
	}
	z->dims[at].value = value;
	z->sources[at] = source;
}

struct sizes *sizes_with(const struct sizes *z, const struct dim_binding *dims, int count)
{
	struct sizes *with = base_calloc(1, sizeof(*with));
	for (int i = 0; i < z->count; i++)
		sizes_put(with, z->dims[i].name, z->dims[i].value, z->sources[i]);
	for (int i = 0; i < count; i++)
		sizes_put(with, dims[i].name, dims[i].value, "entered");
	return with;
}

bool sizes_equal(const struct sizes *x, const struct sizes *y)
{
	bool same = x->count == y->count;
	for (int i = 0; same && i < x->count; i++)
		same = text_equal(x->dims[i].name, y->dims[i].name) && x->dims[i].value == y->dims[i].value;
	return same;
}

void sizes_free(struct sizes *z)
{
	if (z)
		arena_free(&z->arena);
	free(z);
}

const char *session_dim_source(const struct session *s, struct text name)
{
	const struct sizes *z = s->subject->sizes;
	for (int i = 0; i < z->count; i++)
		if (text_equal(z->dims[i].name, name))
			return z->sources[i];
	return "";
}
