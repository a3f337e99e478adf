/* The options that would make unknown parts of a model known: unbound dimensions, shapes and contents of
 * inputs. A backward search (deciding_values) from layers with unknown outputs finds the inputs whose
 * contents matter. If these layers depend on constants that were not read (unread_find), no option helps: a
 * warning says what does. */
#include "config.h"

#include "model/tensor.h"
#include "plan/plan_private.h"

#include <math.h>
#include <stdlib.h>

#define FEW 16 /* elements of a tensor that may hold sizes */
#define PROBED_MOST 32 /* inputs of a layer that is asked which of them decide */

static bool shape_is_open(struct shape s)
{
	for (int i = 0; i < s.rank; i++) {
		if (s.dims[i].kind == DIM_UNKNOWN)
			return true;
	}
	return s.rank < 0;
}

static bool value_is_open(const struct plan_value *v)
{
	return v->kind == VALUE_TENSOR && shape_is_open(v->shape);
}

/* True if the shape of an output or the number of iterations of a body is unknown. */
static bool layer_is_open(const struct plan *p, const struct plan_layer *l)
{
	bool open = false;
	for (int i = 0; i < l->output_count; i++)
		open |= l->outputs[i] >= 0 && value_is_open(&p->values[l->outputs[i]]);
	for (int i = 0; i < l->body_count; i++)
		open |= isnan(l->bodies[i].times);
	return open && l->op;
}

/* True if the shape of an input is unknown. The contents of other inputs may then matter only if they are
 * sizes. */
static bool layer_reads_open(const struct plan *p, const struct plan_layer *l)
{
	for (int i = 0; i < l->input_count; i++) {
		if (l->inputs[i] >= 0 && value_is_open(&p->values[l->inputs[i]]))
			return true;
	}
	return false;
}

/* True if the contents are unknown and may decide shapes: integers, booleans, a few numbers of any type. */
static bool value_decides(const struct plan_value *v)
{
	if (v->kind != VALUE_TENSOR || (v->elements && op_elements_concrete(v->elements)))
		return false;
	return (!dtype_is_float(v->dtype) && dtype_bits(v->dtype) > 0) || shape_count(v->shape) <= FEW;
}

/* True if it is a vector of few integers. */
static bool value_is_sizes(const struct plan_value *v)
{
	return !dtype_is_float(v->dtype) && v->shape.rank >= 0 && v->shape.rank <= 1 &&
		shape_count(v->shape) <= FEW;
}

/* ---- constants that could not be read */

/* Why the contents of a constant were not read, and what to do; NULL: they were. */
static const char *tensor_unread(const struct tensor *t)
{
	bool large = !t->data && tensor_bytes(t->dtype, t->elements) > TENSOR_PAYLOAD_KEPT;
	return !t->unread && large ? "constants above 4096 bytes are not read for shapes"
		": export with constant folding" : t->unread;
}

/* The unread constant that the contents of an input decide on; NULL: none. sizes: only few integers count. */
static const struct tensor *layer_unread(
	const struct plan *p, const struct plan_layer *l, const struct tensor *const *unread, bool sizes)
{
	for (int i = 0; i < l->input_count; i++) {
		int v = l->inputs[i];
		if (v >= 0 && unread[v] && (!sizes || value_is_sizes(&p->values[v])))
			return unread[v];
	}
	return NULL;
}

/* Per value that may decide shapes: a constant on whose contents it depends and which could not be read, or
 * NULL. outer: that of the graph around a body. */
static const struct tensor **unread_find(
	const struct plan *p, const struct tensor *const *outer, struct arena *a)
{
	const struct tensor **unread = ARENA_ARRAY(a, const struct tensor *, p->value_count);
	for (int i = 0; i < p->value_count; i++) {
		const struct plan_value *v = &p->values[i];
		const struct tensor *t = graph_tensor(p->graph, &p->graph->values[i]);
		bool decides = value_decides(v);
		unread[i] = decides && t && tensor_unread(t) ? t : NULL;
		if (decides && outer && v->outer >= 0)
			unread[i] = outer[v->outer];
	}
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		const struct tensor *t = plan_layer_has(l, OP_READS_SHAPE) ? NULL :
			layer_unread(p, l, unread, false);
		for (int j = 0; t && j < l->output_count; j++)
			if (l->outputs[j] >= 0 && value_decides(&p->values[l->outputs[j]]))
				unread[l->outputs[j]] = t;
	}
	return unread;
}

/* One warning for each reason. outer NULL: p is the main graph. */
static void unread_warn(struct builder *b, const struct plan *p, const struct tensor *const *outer,
	struct hash *said, struct arena *a)
{
	const struct tensor **unread = unread_find(p, outer, a);
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		const struct tensor *t = layer_is_open(p, l)
			? layer_unread(p, l, unread, layer_reads_open(p, l)) : NULL;
		int64_t *at = t ? hash_at(said, text_of(tensor_unread(t))) : NULL;
		if (at && *at < 0) {
			*at = 1;
			plan_warn(b, "layer %s needs the %lld number%s of constant \"%s\": %s",
				text_clean(a, l->name), (long long)t->elements, t->elements == 1 ? "" : "s",
				text_clean(a, t->name), tensor_unread(t));
		}
		for (int j = 0; j < l->body_count; j++)
			unread_warn(b, &l->bodies[j], unread, said, a);
	}
}

void needs_check_read(struct builder *b)
{
	struct arena a = { 0 };
	struct hash said = { 0 };
	unread_warn(b, b->p, NULL, &said, &a);
	hash_free(&said);
	arena_free(&a);
}

/* ---- inputs */

struct search {
	const struct plan *p;
	const struct tensor **unread;
	bool *seen;
	int *open, count;   /* stack of values to visit */
	struct arena *arena;
};

/* True if the contents of an input may decide, and are not constant. */
static bool input_decides(const struct plan *p, int v, bool sizes)
{
	return v >= 0 && !p->values[v].constant && value_decides(&p->values[v]) &&
		(!sizes || value_is_sizes(&p->values[v]));
}

/* Contents as symbols of an input, which then stand in the shapes that it decides; NULL: they cannot be given
 * so. */
static const struct elements *symbols_of(struct arena *a, const struct plan_value *v, int value)
{
	if (dtype_is_float(v->dtype) || v->dtype == DTYPE_BOOL || !(shape_count(v->shape) <= FEW))
		return NULL;
	struct elements *e = ARENA_NEW(a, struct elements);
	*e = (struct elements){ .count = (int)shape_count(v->shape) };
	e->i = ARENA_ARRAY(a, struct dim, e->count);
	for (int i = 0; i < e->count; i++)
		e->i[i] = dim_symbol(a, text_of(arena_printf(a, "%d[%d]", value, i)));
	return e;
}

/* True if an output of the layer is still unknown when the inputs that may decide it, except value `without`,
 * have symbols as contents. */
static bool layer_stays_open(const struct search *s, const struct plan_layer *l, bool sizes, int without)
{
	struct arena *a = s->arena;
	struct arena_mark mark = arena_mark(a);
	struct op_value *in = ARENA_ARRAY(a, struct op_value, l->input_count);
	struct op_value *out = ARENA_ARRAY(a, struct op_value, l->output_count);
	for (int i = 0; i < l->input_count; i++) {
		int v = l->inputs[i];
		in[i] = plan_op_value(s->p, v);
		if (v != without && input_decides(s->p, v, sizes))
			in[i].elements = symbols_of(a, &s->p->values[v], v);
	}
	for (int i = 0; i < l->output_count; i++)
		out[i] = plan_op_value(s->p, l->outputs[i]);
	struct op_call c = { .op = l->op, .node = l->node, .opset = l->node->opset, .inputs = in,
		.outputs = out, .input_count = op_inputs_known(l->op, l->input_count),
		.output_count = l->output_count, .arena = a };
	struct error err;
	bool open = op_infer(&c, &err);
	for (int i = 0; i < l->output_count; i++)
		open |= out[i].present && out[i].kind == VALUE_TENSOR && shape_is_open(out[i].shape);
	arena_return(a, mark);
	return open;
}

/* Beside integers that decide, floats are data. Where contents as symbols make an open layer known, only
 * those that this takes decide; none do where an attribute could not be read. */
static void search_push(struct search *s, const struct plan_layer *l, bool sizes, bool open)
{
	bool integers = false;
	const struct op_call attributes = { .op = l->op, .node = l->node, .arena = s->arena };
	if (layer_unread(s->p, l, s->unread, sizes) || (open && op_call_unread(&attributes)))
		return;
	bool tells = open && !l->body_count && l->input_count <= PROBED_MOST &&
		!layer_stays_open(s, l, sizes, -1);
	for (int i = 0; i < l->input_count; i++)
		integers |= input_decides(s->p, l->inputs[i], sizes) &&
			!dtype_is_float(s->p->values[l->inputs[i]].dtype);
	for (int i = 0; i < l->input_count; i++) {
		int v = l->inputs[i];
		if (!input_decides(s->p, v, sizes) || s->seen[v] ||
			(integers && dtype_is_float(s->p->values[v].dtype)) ||
			(tells && !layer_stays_open(s, l, sizes, v)))
			continue;
		s->seen[v] = true;
		s->open[s->count++] = v;
	}
}

/* Marks the values whose contents decide unknown shapes, branches and iteration counts: a depth-first search
 * from layers with unknown outputs back to the model's inputs. It stops at Shape and Size, which read no
 * contents. */
static bool *deciding_values(const struct plan *p, struct arena *a)
{
	struct search s = { .p = p, .unread = unread_find(p, NULL, a), .arena = a,
		.seen = ARENA_ARRAY(a, bool, p->value_count), .open = ARENA_ARRAY(a, int, p->value_count) };
	for (int i = 0; i < p->value_count; i++)
		s.seen[i] = false;
	for (int i = 0; i < p->layer_count; i++) {
		if (layer_is_open(p, &p->layers[i]))
			search_push(&s, &p->layers[i], layer_reads_open(p, &p->layers[i]), true);
	}
	while (s.count) {
		int from = p->values[s.open[--s.count]].producer;
		const struct plan_layer *l = from >= 0 ? &p->layers[from] : NULL;
		if (l && !plan_layer_has(l, OP_READS_SHAPE))
			search_push(&s, l, false, false);
	}
	return s.seen;
}

/* ---- the options as text */

/* "--dim NAME=VALUE" for a POSIX shell. */
static char *option_text(struct arena *a, const char *option, struct text name, const char *value)
{
	struct str out = { 0 };
	str_addf(&out, "%s ", option);
	str_add_word(&out, arena_printf(a, "%s=%s", text_clean(a, name), value));
	char *text = arena_strndup(a, out.p, out.n);
	str_free(&out);
	return text;
}

/* "1xNx8": N is an unknown dimension. */
static const char *shape_wanted(struct arena *a, struct shape s)
{
	struct str out = { 0 };
	if (s.rank < 0)
		return "SHAPE";
	for (int i = 0; i < s.rank; i++) {
		str_puts(&out, i ? "x" : "");
		if (s.dims[i].kind == DIM_KNOWN)
			str_add_int(&out, s.dims[i].value);
		else
			str_puts(&out, "N");
	}
	char *text = arena_strndup(a, out.p, out.n);
	str_free(&out);
	return text;
}

int plan_needs(const struct plan *p, struct arena *a, char ***options)
{
	int count = 0, inputs = p->graph->input_count;
	bool *deciding = deciding_values(p, a);
	char **list = *options = ARENA_ARRAY(a, char *, p->unbound_count + 2 * inputs);
	for (int i = 0; i < p->unbound_count; i++)
		list[count++] = option_text(a, "--dim", p->unbound[i], "VALUE");
	for (int i = 0; i < inputs; i++) {
		const struct plan_value *v = &p->values[p->graph->inputs[i]];
		if (value_is_open(v))
			list[count++] = option_text(a, "--input", v->name, shape_wanted(a, v->shape));
	}
	for (int i = 0; i < inputs; i++) {
		const struct plan_value *v = &p->values[p->graph->inputs[i]];
		if (deciding[p->graph->inputs[i]])
			list[count++] = option_text(a, "--value", v->name,
				shape_count(v->shape) == 1 ? "VALUE" : "VALUE,...");
	}
	return count;
}

char *plan_needs_line(const struct plan *p, struct arena *a)
{
	char **options;
	struct str line = { 0 };
	int count = plan_needs(p, a, &options);
	for (int i = 0; i < count; i++)
		str_addf(&line, "%s%s", i ? " " : "", options[i]);
	char *text = count ? arena_strndup(a, line.p, line.n) : NULL;
	str_free(&line);
	return text;
}
