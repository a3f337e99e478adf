/* The parts of place.c: how layers and groups can run, and the search. */
#ifndef ANALYZE_PLACE_PRIVATE_H
#define ANALYZE_PLACE_PRIVATE_H

#include "analyze/choose/solution.h"

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
	int *parent, *choice; /* per state after the layer */
	struct choice *choices;
};

/* The ways and choices of a layer by itself; of groups only the ways. Layers of equal problem, twin and
 * `passes` share them. */
struct alone {
	bool known, passes;
	int twin;
	struct ways ways;
	struct choice *choices;
};

struct placer {
	const struct study *st;
	const struct scenario *s;
	struct arena *a;
	struct solution *out;
	uint32_t seen;          /* layouts that some problem works in */
	struct ways *ways;      /* per distinct problem */
	struct alone *alone;    /* per problem of the plan, of the last layer that had it, */
	struct alone free[2];   /* and of free layers by `passes` */
	int *group_base;        /* per group: state of the values inside it for its first way */
	int *groups_of, *groups_at; /* the groups that layer i is in: from groups_at[i] to groups_at[i + 1] */
	int *paying;            /* per group: its layers that are not free */
	bool *tracked;          /* per value: its layout is a choice, or it may be inside a group */
	int *slot;              /* per value: its place in the key, or -1 */
	int *live, live_count;
	int *read, *kept, *written; /* scratch: the lists of one step */
	struct layer_step *steps;
	int *table;             /* hash of states; -1 empty */
	int table_size, table_room;
	uint16_t *key, *made;   /* scratch: the keys of one step */
	int key_room;
	int *joined;            /* per layer: the join that it is in, or -1; NULL: no layer is in one */
	bool exact;
};

/* ---- place_ways.c */
struct rank rank_of(const struct price *p, int layers);
/* Lists the groups of each layer that is in no join, numbers the states of values inside them, and tracks
 * these values. Returns the ways of each group. */
struct ways *list_groups(struct placer *g);
/* The choices of a layer, alone and in each of its groups, in arena g->a or shared; returns their number. */
int list_choices(struct placer *g, int layer, const struct ways *group_ways, struct choice **list);

#endif
