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
/* Bodies within bodies and calls within calls. */
#define LOAD_DEPTH_MOST 64
/* Most that calls of the model's own functions may grow to: nodes and calls, and bytes of names and attributes. */
#define LOAD_INLINED_MOST 250000
#define LOAD_INLINED_BYTES ((size_t)256 << 20)
/* Most names of attributes that are compared, in all, to find those that functions refer to. */
#define LOAD_COMPARED_MOST ((size_t)1 << 25)

/* Operator sets as they are gathered; items are malloc'ed. */
struct opset_list {
	int count, capacity;
	struct opset *items;
	struct hash domains; /* -> index */
};

/* An operator that the model defines itself. */
struct function {
	const Onnx__FunctionProto *p;
	struct hash inputs, outputs; /* formal names -> their places */
	bool *made;                  /* for each output: a node of the function writes it */
	struct opset_list opsets;
};

/* A call of a function that is being replaced by the function's nodes: the names in these nodes mean something
 * within the call only. */
struct frame {
	const struct frame *parent; /* the call within which this one stands; NULL: in the model itself */
	const struct function *function;
	const Onnx__NodeProto *call;
	struct text path;           /* the call's label, behind those of the calls around it; no two are equal */
	uint32_t id;                /* from 1 */
	int depth;
	struct frame *next;         /* of the calls in one graph */
};

/* A node to be loaded, and the call in whose terms it is written (NULL: the model's own). */
struct item {
	const Onnx__NodeProto *p;
	const struct frame *frame;
	int index; /* in the list that it stands in */
};

struct loader {
	struct model *m;
	struct arena *arena;  /* the model's */
	struct arena scratch; /* freed when loading ends */
	struct arena tensor;  /* the initializer that is being loaded */
	struct error *err;
	struct opset_list opsets; /* the model's */
	int function_count;
	struct function *functions;
	struct hash function_names; /* domain, name and overload -> index */
	struct hash paths;          /* of calls -> how often it was wanted */
	struct hash locations;      /* of external tensors, those that were looked at */
	struct str key;             /* the key made last */
	uint32_t frame_count;
	size_t name_count, inlined, inlined_bytes, compared;
	int warning_count; /* all of them; the first LOAD_WARNINGS are kept */
	char *warnings[LOAD_WARNINGS];
};

/* The names of one graph while it is being loaded. */
struct scope {
	struct scope *parent;
	struct graph *graph;
	const struct frame *frame; /* in whose terms the graph is written */
	bool inlined;              /* it stands within a call, in whosever terms */
	const struct frame *at;    /* of the item whose bodies are being loaded */
	int depth;
	struct hash names;         /* keys (load_names.c) -> values */
	struct value *values;
	int count, capacity;
	struct item *items;        /* the graph's nodes, calls replaced */
	int item_count, item_capacity;
	struct frame *calls;
	int hidden_count;          /* names of outer graphs that are made here again, and the first of them */
	struct text hidden;
};

/* Keeps one line, cleaned; lines past LOAD_WARNINGS are counted only. */
void load_warn(struct loader *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A name as it may stand in a message: cleaned, shortened. Lives in scratch. */
const char *load_shown(struct loader *l, struct text name);
struct text load_text(struct loader *l, ProtobufCBinaryData bytes); /* a copy in the model's arena */
struct text load_view(ProtobufCBinaryData bytes);		    /* no copy */
struct text load_domain(ProtobufCBinaryData bytes);		    /* no copy; "" for ai.onnx */

/* Versions (load_opset.c), of the format and of operator sets. */
void load_ir_version(struct loader *l, int64_t version);
/* Gathers imports, the newest of each domain. */
int load_opsets(struct loader *l, struct opset_list *list, Onnx__OperatorSetIdProto *const *imports, size_t n);
void opset_list_free(struct opset_list *list);
/* The version of a domain where a node is written; assumed, with a warning, where nothing is said. */
int64_t load_opset_of(struct loader *l, const struct frame *f, struct text domain);

/* Names (load_names.c). A new value of s for a name that is written in f's terms; it gets its full name. -1: taken,
 * *taken is the value whose it is, or -1 for an input of the function. */
int scope_define(struct loader *l, struct scope *s, const struct frame *f, struct text name, int *taken);
/* The value that a name means, of s or captured from the graphs around it. -1: none; SCOPE_OMITTED: an input of the
 * function that the call leaves out. */
#define SCOPE_OMITTED (-2)
int scope_read(struct loader *l, struct scope *s, const struct frame *f, struct text name);
/* The value of s itself that the name means, inputs of functions left out, or -1. */
int scope_own(struct loader *l, struct scope *s, const struct frame *f, struct text name);
void scope_free(struct scope *s);
/* A name behind the call's path, in the model's arena. */
struct text load_path(struct loader *l, const struct frame *f, struct text name);

/* The model's own operators (load_function.c). */
int load_functions(struct loader *l, const Onnx__ModelProto *p);
void load_functions_free(struct loader *l);
/* Appends nodes to s->items, calls of functions replaced by what stands in them. */
int load_expand(struct loader *l, struct scope *s, Onnx__NodeProto *const *nodes, size_t n, const struct frame *f);
/* Counts nodes and memory that stand in s for a call; -1 when there are more than is allowed. What is written in the
 * model itself (f is NULL, and s not within a call) is free. */
int load_spend(struct loader *l, const struct scope *s, const struct frame *f, size_t nodes, size_t bytes);
/* Follows references to attributes of the calls around it. The attribute that is meant, and in *f in whose terms; NULL:
 * not given. Outside of functions a reference stays what it is. */
const Onnx__AttributeProto *load_attribute_meant(
	struct loader *l, const Onnx__AttributeProto *p, const struct frame **f);
struct text load_label(struct arena *a, const Onnx__NodeProto *p, int index);

/* A constant tensor (load_tensor.c). */
int load_tensor(struct loader *l, const Onnx__TensorProto *p, struct tensor *t);
int load_sparse_tensor(struct loader *l, const Onnx__SparseTensorProto *p, struct tensor *t);
/* Warns of a reference to another file that is odd (load_external.c). Nothing is opened. */
void load_external(struct loader *l, const Onnx__TensorProto *p, const struct tensor *t);
/* A declared type into v's dtype, shape and kind (load_type.c). */
void load_type(struct loader *l, const Onnx__TypeProto *p, struct value *v);
/* Was the field's content left in the file? Its bytes, or 0 when it was not. marks: n numbers, onnx.proto. */
uint64_t load_skipped_bytes(const uint64_t *marks, size_t n, unsigned field);

/* Attributes of an item of s (load_attribute.c). */
int load_attributes(struct loader *l, struct scope *s, const struct item *item, struct node *node);
/* A graph (load_graph.c) written in f's terms; parent is NULL for the main one. */
struct graph *load_graph(
	struct loader *l, const Onnx__GraphProto *p, struct scope *parent, const struct frame *f);
/* Puts g's nodes into execution order, stable, with a warning if they were not. -1 names a node in a cycle. */
int load_sort(struct loader *l, struct graph *g);

#endif
