/* The shapes and the batch of an execution beside those of a plan. */
#include "config.h"

#include "analyze/real/comparable.h"

#include "base/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The input of that name, or -1. */
static int input_of(const struct plan *p, struct text name)
{
	for (int i = 0; i < p->value_count; i++)
		if (p->values[i].is_input && text_equal(p->values[i].name, name))
			return i;
	return -1;
}

/* Returns true if the text is the shape: "1x3x224x224", or "" for a scalar. */
static bool is_shape(struct text t, struct shape s)
{
	for (int i = 0; i < s.rank; i++) {
		const char *x = memchr(t.p, 'x', t.n);
		size_t n = x ? (size_t)(x - t.p) : t.n;
		int64_t value;
		bool last = i + 1 == s.rank;
		if (s.dims[i].kind != DIM_KNOWN || last == (x != NULL) ||
			!text_to_int64((struct text){ t.p, n }, &value) || value != s.dims[i].value)
			return false;
		t = (struct text){ t.p + n + (x != NULL), t.n - n - (x != NULL) };
	}
	return s.rank >= 0 && t.n == 0;
}

static size_t last_colon(struct text t)
{
	size_t n = t.n;
	while (n > 0 && t.p[n - 1] != ':')
		n--;
	return n; /* length up to and including it; 0 without one */
}

/* Returns true if every line "data:f32:1x3x224x224" is an input of the plan with this shape. Names may
 * contain colons. */
static bool same_inputs(const struct plan *p, const char *inputs)
{
	for (const char *line = inputs; *line;) {
		struct text t = { line, strcspn(line, "\n") };
		size_t shape = last_colon(t), type = shape ? last_colon((struct text){ line, shape - 1 }) : 0;
		int at = type ? input_of(p, (struct text){ line, type - 1 }) : -1;
		if (at < 0 || !is_shape((struct text){ line + shape, t.n - shape }, p->values[at].shape))
			return false;
		line += t.n + (line[t.n] == '\n');
	}
	return true;
}

/* Returns the batch of the plan, else the first dimension of the first input; 0 if unknown. */
static int64_t batch_of(const struct plan *p)
{
	for (int i = 0; i < p->value_count && p->batch <= 0; i++) {
		const struct shape *s = &p->values[i].shape;
		if (p->values[i].is_input && s->rank > 1)
			return s->dims[0].kind == DIM_KNOWN ? s->dims[0].value : 0;
	}
	return p->batch;
}

bool comparable_shapes(const struct plan *p, const struct execution *e)
{
	int64_t batch = batch_of(p);
	return *e->inputs ? same_inputs(p, e->inputs) : !e->batch || !batch || e->batch == batch;
}

/* Returns the sizes of tensor `index` in the shapes of a row, [{"float":[8,3,224,224]}, ...] or
 * [[8,3,224,224], ...]; NULL: it has no such tensor. */
static const json_t *row_tensor(const json_t *shapes, size_t index)
{
	const json_t *tensor = json_array_get(shapes, index);
	void *typed = json_is_object(tensor) ? json_object_iter((json_t *)tensor) : NULL;
	return typed ? json_object_iter_value(typed) : tensor;
}

/* True if the sizes are those of the shape, but for the first. */
static bool is_batch_of(const json_t *sizes, struct shape s)
{
	bool same = s.rank > 1 && json_array_size(sizes) == (size_t)s.rank;
	for (int i = 1; i < s.rank && same; i++)
		same = s.dims[i].kind == DIM_KNOWN &&
			json_integer_value(json_array_get(sizes, (size_t)i)) == s.dims[i].value;
	return same;
}

/* Returns the first size of a model's input in a row that reads it, of the first input that is_batch_of fits;
 * 0 if unknown. m NULL: any tensor of such sizes may be the input. */
static int64_t batch_of_input(const struct plan *p, const json_t *shapes, const struct match_row *m)
{
	const struct plan_layer *l = m && m->layer_count ? &p->layers[m->layers[0]] : NULL;
	size_t index = 0; /* absent inputs are not in the list */
	for (int k = 0; k < (l ? l->input_count : m ? 0 : p->value_count); k++) {
		const struct plan_value *v = l ? l->inputs[k] < 0 ? NULL : &p->values[l->inputs[k]]
					       : &p->values[k];
		const json_t *sizes = row_tensor(shapes, l ? index : 0);
		if (v && v->is_input && is_batch_of(sizes, v->shape))
			return json_integer_value(json_array_get(sizes, 0));
		index += v != NULL;
	}
	return 0;
}

static int64_t batch_of_rows(const struct plan *p, const struct execution *e, const struct match *m)
{
	int64_t batch = 0;
	for (int i = 0; i < e->row_count && batch <= 0; i++) {
		if (!*e->rows[i].shapes || e->rows[i].level != LEVEL_LAYER)
			continue;
		json_t *shapes = json_loads(e->rows[i].shapes, 0, NULL);
		batch = batch_of_input(p, shapes, m ? &m->rows[i] : NULL);
		json_decref(shapes);
	}
	return batch;
}

/* Returns the batch of all convolutions of a profile of ONNX Runtime; 0 if unknown. */
static int64_t batch_of_convolutions(const struct execution *e)
{
	int64_t batch = 0;
	for (int i = 0; i < e->row_count && !strcmp(e->source, "onnxruntime"); i++) {
		const struct execution_row *r = &e->rows[i];
		const char *p = strcmp(r->op, "Conv") ? NULL : strchr(r->shapes, '[');
		while (p && !isdigit((unsigned char)p[1]))
			p = strchr(p + 1, '[');
		long long n = p ? strtoll(p + 1, NULL, 10) : batch;
		if (batch && n != batch)
			return 0;
		batch = n;
	}
	return batch;
}

int64_t comparable_batch(const struct plan *p, const struct execution *e, const struct match *m)
{
	int64_t batch = e->batch ? e->batch : m ? batch_of_rows(p, e, m) : 0;
	return batch > 0 ? batch : batch_of_convolutions(e);
}

int64_t comparable_batch_guess(const struct plan *p, const struct execution *e)
{
	return batch_of_rows(p, e, NULL);
}
