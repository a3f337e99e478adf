/* The loader's parts. Functions return -1 with l->err set; the error lacks the file's name, which model_load
 * adds. Private to the room. */
#ifndef MODEL_LOAD_H
#define MODEL_LOAD_H

#include "base/hash.h"
#include "model/graph.h"
#include "model/skim.h"

#define LOAD_WARNINGS 100
#define LOAD_RANK_MOST 64
/* Limit of names in a model, bodies included: a name of three bytes takes about 200 here. */
#define LOAD_NAMES_MOST 10000000
/* Nesting limit of bodies and calls. */
#define LOAD_DEPTH_MOST 64
/* Limits of what inlining local functions adds: nodes and calls, and bytes of names and attributes. */
#define LOAD_INLINED_MOST 250000
#define LOAD_INLINED_BYTES ((size_t)256 << 20)
/* Limit of attribute names compared to resolve references in functions. */
#define LOAD_COMPARED_MOST ((size_t)1 << 25)

/* Operator sets while they are collected; items are malloc'ed. */
struct opset_list {
	int count, capacity;
	struct opset *items;
	struct hash domains; /* domain -> index */
};

/* A local function of the model. */
struct function {
	const Onnx__FunctionProto *p;
	struct hash inputs, outputs; /* formal names -> their indexes */
	bool *made;                  /* per output: true if a node of the function computes it */
	bool kept;                   /* a call stays a node, because an operator has its name */
	struct opset_list opsets;
};

/* A call of a local function while it is inlined. Names in the function's nodes are local to the call. */
struct frame {
	const struct frame *parent; /* the enclosing call; NULL: the call is in the model itself */
	const struct function *function;
	const Onnx__NodeProto *call;
	struct text path;           /* labels of the enclosing calls and this one; unique */
	uint32_t id;                /* from 1; distinguishes the names of calls */
	int depth;
	struct frame *next;         /* next call in the same graph */
};

/* A node to load, and the call that it is inlined for (NULL: a node of the model itself). */
struct item {
	const Onnx__NodeProto *p;
	const struct frame *frame;
	int index; /* index in the list of nodes in the file */
};

/* The file with external tensors that is open. */
struct external {
	struct text location;       /* p NULL: none */
	int fd;                     /* -1: it cannot be read */
	int64_t bytes;
	const char *unread;         /* why, in the model's arena */
};

struct loader {
	struct model *m;
	model_operators *known;   /* operators that go before functions of their name, or NULL */
	const void *known_with;
	struct arena *arena;  /* the model's */
	struct arena scratch; /* freed when loading ends */
	struct arena tensor;  /* holds the initializer being loaded */
	struct error *err;
	struct opset_list opsets; /* imported by the model */
	int function_count;
	struct function *functions;
	struct hash function_names; /* domain, name and overload -> index */
	struct hash paths;          /* of calls -> number of calls with this label */
	struct hash locations;      /* of external tensors that were checked */
	int external_capacity;      /* of the model's externals */
	struct external external;
	int64_t external_read;      /* bytes so far, see load_external.c */
	struct str key;             /* buffer of key_make */
	uint32_t frame_count;
	size_t name_count, inlined, inlined_bytes, compared;
	int warning_count; /* total; the first LOAD_WARNINGS are kept */
	char *warnings[LOAD_WARNINGS];
};

/* The names of a graph while it is loaded. */
struct scope {
	struct scope *parent;
	struct graph *graph;
	const struct frame *frame; /* the call whose names the graph uses */
	bool inlined;              /* true if the graph is inlined as part of a call */
	const struct frame *at;    /* call of the node whose bodies are being loaded */
	int depth;
	struct hash names;         /* key (load_names.c) -> value index */
	struct value *values;      /* in the model's arena */
	int count, capacity;
	struct item *items;        /* the graph's nodes, calls inlined */
	int item_count, item_capacity;
	struct frame *calls;
	int hidden_count;          /* names of outer graphs that the body defines again: their number and the
				      first of them */
	struct text hidden;
};

/* Adds a warning of one line, cleaned. Those after LOAD_WARNINGS are only counted. */
void load_warn(struct loader *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A name as shown in messages: cleaned and shortened; in l->scratch. */
const char *load_shown(struct loader *l, struct text name);
struct text load_copy(struct loader *l, struct text t); /* in the model's arena */
struct text load_text(struct loader *l, ProtobufCBinaryData bytes); /* a copy in the model's arena */
struct text load_view(ProtobufCBinaryData bytes);		    /* no copy */
struct text load_domain(ProtobufCBinaryData bytes);		    /* no copy; "" for ai.onnx */

/* load_opset.c: versions of the format and of operator sets. */
void load_ir_version(struct loader *l, int64_t version);
/* Returns the IR version that was released with a version of ai.onnx, at least 4: since IR version 4 an
 * initializer need not be an input. */
int64_t load_ir_of_opset(int64_t opset);
/* Collects imports; if a domain occurs twice, the newer version counts. */
int load_opsets(
	struct loader *l, struct opset_list *list, Onnx__OperatorSetIdProto *const *imports, size_t n);
void opset_list_free(struct opset_list *list);
/* The version of a domain for a node of call f; without an import it is assumed, with a warning. */
int64_t load_opset_of(struct loader *l, const struct frame *f, struct text domain);
/* The same without a warning. */
int64_t load_opset_peek(const struct loader *l, const struct frame *f, struct text domain);

/* load_names.c. Makes room for `count` values, in the model's arena. */
void scope_reserve(struct loader *l, struct scope *s, size_t count);
/* Adds a value to s; `name` is as written in call f. -1 if the name is taken: *taken is its
 * value, or -1 if it is an input of the function. */
int scope_define(struct loader *l, struct scope *s, const struct frame *f, struct text name, int *taken);
/* The value that a name refers to, in s or captured from an outer graph. -1: none. SCOPE_OMITTED: an input of
 * the function that the call omits. */
#define SCOPE_OMITTED (-2)
int scope_read(struct loader *l, struct scope *s, const struct frame *f, struct text name);
/* The value of s itself that the name refers to, or -1. Inputs of functions are not considered. */
int scope_own(struct loader *l, struct scope *s, const struct frame *f, struct text name);
void scope_free(struct scope *s);
/* The call's path, "/" and the name; in the model's arena. */
struct text load_path(struct loader *l, const struct frame *f, struct text name);

/* load_function.c: local functions of the model. */
int load_functions(struct loader *l, const Onnx__ModelProto *p);
void load_functions_free(struct loader *l);
/* Appends nodes to s->items; calls of local functions are replaced by their nodes. */
int load_expand(
	struct loader *l, struct scope *s, Onnx__NodeProto *const *nodes, size_t n, const struct frame *f);
/* Counts nodes and bytes added to s by inlining; -1 if a limit is exceeded. Nodes of the model itself (f
 * NULL, s not inlined) do not count. */
int load_spend(struct loader *l, const struct scope *s, const struct frame *f, size_t nodes, size_t bytes);
/* Resolves references to attributes of the enclosing calls. Returns the attribute, and in *f the call that it
 * is written in; NULL if it is not given. Outside functions a reference is returned as it is. */
const Onnx__AttributeProto *load_attribute_meant(
	struct loader *l, const Onnx__AttributeProto *p, const struct frame **f);
struct text load_label(struct arena *a, const Onnx__NodeProto *p, int index);

/* load_tensor.c: constant tensors. */
int load_tensor(struct loader *l, const Onnx__TensorProto *p, struct tensor *t);
int load_sparse_tensor(struct loader *l, const Onnx__SparseTensorProto *p, struct tensor *t);
/* load_external.c: reads a small payload from a regular file below the model's folder, else sets t->unread.
 * Warns of a suspicious reference. */
void load_external(struct loader *l, const Onnx__TensorProto *p, struct tensor *t);
void load_external_close(struct loader *l);
/* load_type.c: a declared type into v's dtype, shape and kind. */
void load_type(struct loader *l, const Onnx__TypeProto *p, struct value *v);
/* Bytes of the field that the skim left in the file; 0 if it was kept. marks: n numbers, see onnx.proto. */
uint64_t load_skipped_bytes(const uint64_t *marks, size_t n, unsigned field);

/* load_attribute.c: attributes of an item of s. */
int load_attributes(struct loader *l, struct scope *s, const struct item *item, struct node *node);
/* load_graph.c: loads a graph whose names are those of call f. parent is NULL for the main graph. */
struct graph *load_graph(
	struct loader *l, const Onnx__GraphProto *p, struct scope *parent, const struct frame *f);
/* load_sort.c: sorts g's nodes topologically, with a warning if their order changes. -1 if there is a cycle;
 * the error names a node of it. */
int load_sort(struct loader *l, struct graph *g);

#endif
