/* Calls of functions that the model defines are replaced by the nodes of their bodies, with names made
 * unique. The depth of calls is limited. */
#include "config.h"

#include "model/load.h"

#include <stdlib.h>

/* limit, because each reference searches a call's attributes */
#define CALL_ATTRIBUTES_MOST 1000

/* ---- the functions of a model ---- */

static struct text function_key(
	struct loader *l, ProtobufCBinaryData domain, ProtobufCBinaryData name, ProtobufCBinaryData overload)
{
	struct text parts[] = { load_domain(domain), load_view(name), load_view(overload) };
	str_clear(&l->key);
	for (int i = 0; i < 3; i++) {
		str_add(&l->key, parts[i].p, parts[i].n);
		str_add(&l->key, "", 1);
	}
	return (struct text){ l->key.p, l->key.n };
}

static const char *function_shown(struct loader *l, const struct function *fn)
{
	return load_shown(l, load_view(fn->p->name));
}

static int formals_add(struct loader *l, struct function *fn, struct hash *to,
	ProtobufCBinaryData *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t *place = hash_at(to, load_view(names[i]));
		if (*place >= 0)
			return error_set(l->err, "function \"%s\" names \"%s\" twice", function_shown(l, fn),
				load_shown(l, load_view(names[i])));
		*place = (int64_t)i;
	}
	return 0;
}

static void function_made(struct loader *l, struct function *fn)
{
	fn->made = ARENA_ARRAY(&l->scratch, bool, fn->p->n_output);
	for (size_t i = 0; i < fn->p->n_node; i++) {
		const Onnx__NodeProto *node = fn->p->node[i];
		for (size_t k = 0; k < node->n_output; k++) {
			int64_t o = hash_find(&fn->outputs, load_view(node->output[k]));
			if (o >= 0)
				fn->made[o] = true;
		}
	}
}

static int function_open(struct loader *l, struct function *fn)
{
	const Onnx__FunctionProto *p = fn->p;
	l->name_count += p->n_input + p->n_output;
	if (l->name_count > LOAD_NAMES_MOST)
		return error_set(l->err, "more than %d names; " SKIM_FIX, LOAD_NAMES_MOST);
	if (p->n_attribute_proto > CALL_ATTRIBUTES_MOST)
		return error_set(l->err, "function \"%s\" has %zu attributes, more than %d",
			function_shown(l, fn), p->n_attribute_proto, CALL_ATTRIBUTES_MOST);
	if (formals_add(l, fn, &fn->inputs, p->input, p->n_input) != 0 ||
		formals_add(l, fn, &fn->outputs, p->output, p->n_output) != 0)
		return -1;
	function_made(l, fn);
	if (load_opsets(l, &fn->opsets, p->opset_import, p->n_opset_import) != 0)
		return error_context(l->err, "function \"%s\"", function_shown(l, fn));
	return 0;
}

int load_functions(struct loader *l, const Onnx__ModelProto *p)
{
	l->functions = ARENA_ARRAY(&l->scratch, struct function, p->n_functions);
	for (size_t i = 0; i < p->n_functions; i++) {
		const Onnx__FunctionProto *f = p->functions[i];
		struct function *fn = &l->functions[l->function_count++];
		fn->p = f;
		struct text key = function_key(l, f->domain, f->name, f->overload);
		if (hash_find(&l->function_names, key) >= 0)
			load_warn(l, "function \"%s\" is defined twice; the last one is used",
				function_shown(l, fn));
		else
			key.p = arena_strndup(&l->scratch, key.p, key.n);
		*hash_at(&l->function_names, key) = (int64_t)i;
		if (function_open(l, fn) != 0)
			return -1;
	}
	return 0;
}

void load_functions_free(struct loader *l)
{
	for (int i = 0; i < l->function_count; i++) {
		hash_free(&l->functions[i].inputs);
		hash_free(&l->functions[i].outputs);
		opset_list_free(&l->functions[i].opsets);
	}
	hash_free(&l->function_names);
	hash_free(&l->paths);
}

/* The local function that a node calls, or NULL for an operator. Keys may be equal if names contain a NUL, so
 * the names are compared, too. */
static struct function *function_of(struct loader *l, const Onnx__NodeProto *p)
{
	if (l->function_count == 0)
		return NULL;
	int64_t i = hash_find(&l->function_names, function_key(l, p->domain, p->op_type, p->overload));
	struct function *fn = i < 0 ? NULL : &l->functions[i];
	return fn && text_equal(load_view(fn->p->name), load_view(p->op_type)) &&
			       text_equal(load_domain(fn->p->domain), load_domain(p->domain))
		       ? fn
		       : NULL;
}

/* The function whose nodes replace the node, or NULL: an operator goes before a function of its name, as it
 * does in ONNX Runtime. An overload is always a function. */
static const struct function *function_called(
	struct loader *l, const Onnx__NodeProto *p, const struct frame *f)
{
	struct function *fn = function_of(l, p);
	struct text domain = load_domain(p->domain);
	const char *place = !fn || !l->known || p->overload.len ? NULL :
		l->known(l->known_with, domain, load_view(p->op_type), load_opset_peek(l, f, domain));
	if (!place)
		return fn;
	if (!fn->kept)
		load_warn(l, "function %s.%s is not expanded: %s%s; --functions expand lists its nodes",
			domain.n ? load_shown(l, domain) : "ai.onnx", function_shown(l, fn), *place ?
			"it is described in " : "runtimes run their operator of this name", place);
	fn->kept = true;
	return NULL;
}

/* ---- calls ---- */

int load_spend(struct loader *l, const struct scope *s, const struct frame *f, size_t nodes, size_t bytes)
{
	if (!f && !s->inlined)
		return 0;
	l->inlined += nodes;
	l->inlined_bytes += bytes;
	if (l->inlined > LOAD_INLINED_MOST)
		return error_set(l->err, "the model's local functions expand to more than %d nodes"
			"; " SKIM_FIX, LOAD_INLINED_MOST);
	if (l->inlined_bytes > LOAD_INLINED_BYTES)
		return error_set(l->err, "the model's local functions expand to more than %zu MiB"
			"; " SKIM_FIX, LOAD_INLINED_BYTES >> 20);
	return 0;
}

struct text load_label(struct arena *a, const Onnx__NodeProto *p, int index)
{
	const struct node n = { .name = load_view(p->name), .op = load_view(p->op_type) };
	return node_label(a, &n, index);
}

/* The call's path, with a number if the label occurred before. */
static struct text call_path(struct loader *l, const Onnx__NodeProto *p, int index, const struct frame *f)
{
	struct text wanted = load_path(l, f, load_label(&l->scratch, p, index)), path = wanted;
	for (;;) {
		int64_t *uses = hash_at(&l->paths, path);
		if (*uses < 0) {
			*uses = 1;
			return path;
		}
		struct str numbered = { 0 };
		str_add(&numbered, wanted.p, wanted.n);
		str_addf(&numbered, "_%lld", (long long)++*hash_at(&l->paths, wanted));
		path = (struct text){ arena_strndup(l->arena, numbered.p, numbered.n), numbered.n };
		str_free(&numbered);
	}
}

static int call_check(struct loader *l, const struct scope *s, const Onnx__NodeProto *p,
	const struct frame *f, const struct function *fn)
{
	for (const struct frame *around = f; around; around = around->parent)
		if (around->function == fn)
			return error_set(l->err, "function \"%s\" calls itself", function_shown(l, fn));
	if (s->depth + (f ? f->depth : 0) >= LOAD_DEPTH_MOST)
		return error_set(l->err, "calls and subgraphs are nested more than %d deep", LOAD_DEPTH_MOST);
	for (size_t i = fn->p->n_input; i < p->n_input; i++)
		if (p->input[i].len)
			return error_set(l->err, "function \"%s\" has %zu input%s, but a call passes more",
				function_shown(l, fn), fn->p->n_input, fn->p->n_input == 1 ? "" : "s");
	for (size_t i = fn->p->n_output; i < p->n_output; i++)
		if (p->output[i].len)
			return error_set(l->err, "function \"%s\" has %zu output%s, but a call uses more",
				function_shown(l, fn), fn->p->n_output, fn->p->n_output == 1 ? "" : "s");
	if (p->n_attribute > CALL_ATTRIBUTES_MOST)
		return error_set(l->err, "a call passes %zu attributes to function \"%s\", more than %d",
			p->n_attribute, function_shown(l, fn), CALL_ATTRIBUTES_MOST);
	return 0;
}

static void item_add(struct scope *s, const Onnx__NodeProto *p, const struct frame *f, int index)
{
	VEC_GROW(s->items, s->item_count, s->item_capacity);
	s->items[s->item_count++] = (struct item){ p, f, index };
}

/* For an output that is an input of the function: adds an Identity in place of the call. */
static int call_hand_on(struct loader *l, struct scope *s, const struct frame *call, size_t output)
{
	const struct function *fn = call->function;
	int64_t input = hash_find(&fn->inputs, load_view(fn->p->output[output]));
	if (input < 0 || (size_t)input >= call->call->n_input || !call->call->input[input].len)
		return error_set(l->err, "function \"%s\" does not compute its output \"%s\"",
			function_shown(l, fn), load_shown(l, load_view(fn->p->output[output])));
	Onnx__NodeProto *p = ARENA_NEW(&l->scratch, Onnx__NodeProto);
	onnx__node_proto__init(p);
	p->has_op_type = p->has_name = true;
	p->op_type = (ProtobufCBinaryData){ 8, (uint8_t *)"Identity" };
	p->n_input = p->n_output = 1;
	p->input = &call->call->input[input];
	p->output = &call->call->output[output];
	/* The node is part of the call by name, but its inputs and outputs are names of the caller. */
	size_t around = call->parent ? call->parent->path.n + 1 : 0;
	struct text name = load_path(l, call, load_view(fn->p->output[output]));
	p->name = (ProtobufCBinaryData){ name.n - around, (uint8_t *)(uintptr_t)name.p + around };
	item_add(s, p, call->parent, s->item_count);
	return 0;
}

static int call_replace(struct loader *l, struct scope *s, const Onnx__NodeProto *p, int index,
	const struct frame *f, const struct function *fn)
{
	if (call_check(l, s, p, f, fn) != 0)
		return -1;
	struct frame *call = ARENA_NEW(&l->scratch, struct frame);
	*call = (struct frame){ .parent = f, .function = fn, .call = p, .id = ++l->frame_count,
		.depth = f ? f->depth + 1 : 1, .next = s->calls };
	call->path = call_path(l, p, index, f);
	s->calls = call;
	if (load_spend(l, s, call, 1, call->path.n) != 0 ||
		load_expand(l, s, fn->p->node, fn->p->n_node, call) != 0)
		return -1;
	for (size_t o = 0; o < fn->p->n_output && o < p->n_output; o++)
		if (p->output[o].len && !fn->made[o] && call_hand_on(l, s, call, o) != 0)
			return -1;
	return 0;
}

int load_expand(struct loader *l, struct scope *s, Onnx__NodeProto *const *nodes, size_t n,
	const struct frame *f)
{
	for (size_t i = 0; i < n; i++) {
		const struct function *fn = function_called(l, nodes[i], f);
		if (fn && call_replace(l, s, nodes[i], (int)i, f, fn) != 0)
			return error_context(l->err, "node \"%s\"",
				load_shown(l, load_label(&l->scratch, nodes[i], (int)i)));
		if (fn)
			continue;
		item_add(s, nodes[i], f, (int)i);
		if (load_spend(l, s, f, 1, 0) != 0)
			return -1;
	}
	return 0;
}

/* ---- attributes ---- */

static const Onnx__AttributeProto *attribute_called(
	struct loader *l, Onnx__AttributeProto *const *list, size_t n, ProtobufCBinaryData name)
{
	l->compared += n;
	for (size_t i = 0; i < n; i++)
		if (text_equal(load_view(list[i]->name), load_view(name)))
			return list[i];
	return NULL;
}

const Onnx__AttributeProto *load_attribute_meant(
	struct loader *l, const Onnx__AttributeProto *p, const struct frame **f)
{
	while (*f && p && p->ref_attr_name.len) {
		const Onnx__AttributeProto *given =
			attribute_called(l, (*f)->call->attribute, (*f)->call->n_attribute, p->ref_attr_name);
		if (!given) {
			const Onnx__FunctionProto *fn = (*f)->function->p;
			return attribute_called(l, fn->attribute_proto, fn->n_attribute_proto,
				p->ref_attr_name);
		}
		p = given;
		*f = (*f)->parent;
	}
	return p;
}
