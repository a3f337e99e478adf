/* Operators that users describe: `operators:` of the configuration and of NAME.ops.yaml beside a model. An
 * entry is checked as far as it can be without a node when it is added, and evaluated by one rule. It holds
 * texts and numbers only: no file, no command. */
#ifndef OPS_OP_OWN_H
#define OPS_OP_OWN_H

#include "ops/op.h"
#include "problem/assumed.h"

#define OP_OWN_MAX 256     /* entries of a table */
#define OP_OWN_VALUES 32   /* of a key: inputs, outputs, attributes */

enum op_own_key {
	OP_OWN_NAME, OP_OWN_DOMAIN, OP_OWN_INPUTS, OP_OWN_OUTPUTS, OP_OWN_TYPES, OP_OWN_ATTRIBUTES,
	OP_OWN_CLASS, OP_OWN_FLOPS, OP_OWN_BYTES, OP_OWN_KERNEL, OP_OWN_PROXY, OP_OWN_TIME, OP_OWN_OVERRIDE,
	OP_OWN_KEYS
};
/* How a key is written: one text; one text or a list of them; a map of names to texts. */
enum op_own_form { OP_OWN_ONE, OP_OWN_LIST, OP_OWN_MAP };
extern const struct op_own_row {
	const char *name;
	enum op_own_form form;
} op_own_rows[OP_OWN_KEYS];

/* An entry as it is written. Everything lives at least as long as the table. */
struct op_own_text {
	struct text name;          /* of a map; else empty */
	struct text text;
	int line;
};
struct op_own_given {
	const char *path;          /* of the file; clean */
	int line;                  /* where the entry begins */
	struct op_own_values {
		int count;         /* at most OP_OWN_VALUES; 0: the key is not given */
		const struct op_own_text *at;
	} keys[OP_OWN_KEYS];
};

struct op_own;
struct op_own_table {
	int count;
	const struct op_own **at;
	const struct op_own_table *next; /* asked for what this one lacks; NULL: none */
};

/* Adds an entry to the table, in arena a. -1 with err, "path:line: ...", for one that is not valid, is there
 * already, or is of a built-in operator and does not say that it overrides it. */
int op_own_add(struct op_own_table *t, struct arena *a, const struct op_own_given *given, struct error *err);
/* The row of an operator, or NULL; t may be NULL. */
const struct op *op_own_find(const struct op_own_table *t, struct text domain, struct text name);
/* Where it is described, "x.yaml:12"; NULL: op is NULL or built in. */
const char *op_own_place(const struct op *op);
/* What its entry says of its time; NULL: nothing, or op is NULL or built in. */
const struct assumption *op_own_time(const struct op *op);
/* Entry number i of the table itself, as it was written. */
const struct op_own_given *op_own_entry(const struct op_own_table *t, int i);

#endif
