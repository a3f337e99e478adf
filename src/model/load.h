/* Private to the model room: what the parts of the loader share. Functions return -1 with l->err set, without
 * the file's name, which model_load puts in front. */
#ifndef MODEL_LOAD_H
#define MODEL_LOAD_H

#include "base/hash.h"
#include "model/graph.h"
#include "model/skim.h"

#define LOAD_WARNINGS 100
#define LOAD_RANK_MOST 64
/* Most names written and read in a model, bodies included: a name of three bytes costs some 200 here. */
#define LOAD_NAMES_MOST 10000000

struct loader {
	struct model *m;
	struct arena *arena;  /* the model's */
	struct arena scratch; /* freed when loading ends */
	struct error *err;
	size_t name_count;
	int warning_count; /* all of them; the first LOAD_WARNINGS are kept */
	char *warnings[LOAD_WARNINGS];
};

/* The names of one graph while it is being loaded. */
struct scope {
	struct scope *parent;
	struct graph *graph;
	struct hash names;
	struct value *values;
	int count, capacity;
};

/* Keeps one line, cleaned; lines past LOAD_WARNINGS are counted only. */
void load_warn(struct loader *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A name as it may stand in a message: cleaned, shortened. Lives in scratch. */
const char *load_shown(struct loader *l, struct text name);
struct text load_text(struct loader *l, ProtobufCBinaryData bytes); /* a copy in the model's arena */
struct text load_view(ProtobufCBinaryData bytes);		    /* no copy */

/* A constant tensor (load_tensor.c). */
int load_tensor(struct loader *l, const Onnx__TensorProto *p, struct tensor *t);
int load_sparse_tensor(struct loader *l, const Onnx__SparseTensorProto *p, struct tensor *t);
/* A declared type into v's dtype, shape and kind. */
void load_type(struct loader *l, const Onnx__TypeProto *p, struct value *v);
/* Was the field's content left in the file? Its bytes, or 0 when it was not. */
uint64_t load_skipped_bytes(Onnx__Skipped *const *marks, size_t n, unsigned field);

/* Attributes of a node whose graph has scope s (load_attribute.c). */
int load_attributes(struct loader *l, struct scope *s, const Onnx__NodeProto *p, struct node *node);
/* A graph (load_graph.c); parent is NULL for the main one. */
struct graph *load_graph(struct loader *l, const Onnx__GraphProto *p, struct scope *parent);
/* Puts g's nodes into execution order, stable, with a warning if they were not. -1 names a node in a cycle. */
int load_sort(struct loader *l, struct graph *g);

#endif
