/* Internal interfaces of the match. */
#ifndef PROFILE_MATCH_MATCH_PRIVATE_H
#define PROFILE_MATCH_MATCH_PRIVATE_H

#include "base/hash.h"
#include "profile/match/match.h"

struct layer_list {
	int count, capacity;
	int *items;
};

struct matcher {
	struct arena *a;
	const struct execution *e;
	const struct plan *p;
	struct match *m;
	enum execution_level top;  /* level of the rows to match */
	struct hash tensors, layers; /* by clean name: values of the plan; layers */
	int *owner;                /* per value: first row that writes it, or -1 */
	int *reserved;             /* per layer: the row of this name, or -1 */
	int *seen;                 /* per value: row + 1 of the last walk */
	int *stack;
	int *claimed;              /* per layer: row + 1 of the last row whose list got it, or 0 */
	bool runs_known;           /* all rows are of one run */
	struct layer_list *lists;  /* per row: list of its layers */
};

/* Returns true if the row is matched itself: it is at the top level and inside no other such row. */
bool matcher_traces(const struct matcher *x, int row);
/* Adds the layer to the row's list. The layer belongs to the first row that lists it; returns true if that is
 * this row. */
bool matcher_claim(struct matcher *x, int row, int layer);

/* ---- match_name.c ---- */

/* Fills both maps. */
void names_index(struct matcher *x);
/* Returns the value that a tensor name stands for, with or without the suffixes that frameworks add, or -1.
 */
int name_tensor(const struct matcher *x, struct text name);
/* Returns the last layer of a row whose name an optimizer made from the name of the last fused node
 * ("/act/Mul/QuickGeluFusion/"), or -1. */
int name_fusion(const struct matcher *x, struct text name);
/* Calls `found` for each layer that a row's name lists, joined as TensorRT does. Returns the confidence; 0
 * without a layer. */
double name_layers(
	const struct matcher *x, struct text name, void (*found)(void *user, int layer), void *user);
/* Returns the kind of a row that the framework may have added, by its name and operator; else ADDED_COUNT. */
enum added name_added(const struct execution_row *r);
/* Returns true if the name shows that the framework added the row. op: the row's; "": unknown. */
bool name_is_added(struct text name, const char *op);
/* Returns true if the name is one that only compilers give to a subgraph. */
bool name_is_compiled(const struct execution_row *r);
/* Sets the next item of a list separated by newlines. Returns false at the end. */
bool name_next(const char **list, struct text *item);

/* ---- match_order.c ---- */

/* Matches the remaining rows with the remaining layers: the longest common subsequence by operator and shape.
 */
void match_by_order(struct matcher *x);

#endif
