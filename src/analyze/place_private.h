/* The parts of place.c: how layers and groups can run, and the search. */
#ifndef ANALYZE_PLACE_PRIVATE_H
#define ANALYZE_PLACE_PRIVATE_H

#include "analyze/analyze_private.h"

/* The state of a value inside a group, from here on; below: the produced layout * 16 + the available ones as
 * bits. */
#define INSIDE (1 << 8)

struct rank {
	int missing, estimated;
	double cost;
};

/* How a layer or group can run: its layouts and price. */
struct way {
	int in, out;
	int problem;    /* distinct; -1: none */
	struct price price;
};

struct ways {
	int count;
	struct way *list; /* NULL: not known yet */
};

/* A choice for one layer: alone, or as part of a group. */
struct choice {
	const struct way *way;
	int group;      /* -1: alone */
	int inside;     /* state of the values inside the group */
	struct rank rank; /* 0 before a group's last layer */
};

struct layer_step {
	int count, *parent, *choice; /* per state after the layer */
	struct choice *choices;
};

struct placer {
	const struct study *st;
	const struct scenario *s;
	struct arena *a;
	struct solution *out;
	enum kernel_layout *role; /* per layer */
	uint32_t seen;          /* layouts that some problem works in */
	struct ways *ways;      /* per distinct problem */
	int *group_base;        /* per group: state of the values inside it for its first way */
	int **groups_of, *groups_at; /* per layer: the groups that it is in */
	bool *tracked;          /* per value: its layout is a choice, or it may be inside a group */
	int *slot;              /* per value: its place in the key, or -1 */
	int *live, live_count;
	struct layer_step *steps;
	int *table;             /* hash of states; -1 empty */
	int table_size;
	int *joined;            /* per layer: the join that it is in, or -1; NULL: no layer is in one */
	bool exact;
};

/* ---- place_ways.c */
struct rank rank_of(const struct price *p, int layers);
/* Lists the groups of each layer that is in no join, numbers the states of values inside them, and tracks
 * these values. Returns the ways of each group. */
struct ways *list_groups(struct placer *g);
/* The choices of a layer, alone and in each of its groups, in arena g->a; returns their number. */
int list_choices(struct placer *g, int layer, const struct ways *group_ways, struct choice **list);

#endif
