/* Lanes of random DAGs: every edge can be followed from its layer to its reader, no line leads nowhere, no
 * two outputs share a lane at once. */
#include "config.h"

#include "ui/screen/lanes.h"

#include "base/arena.h"
#include "tap.h"

#include <stdlib.h>

static uint32_t seed = 1;

static int random_below(int n)
{
	seed = seed * 1664525 + 1013904223;
	return (int)((seed >> 8) % (uint32_t)n);
}

struct dag {
	int layers, first[512], edges[4096];
};

static void dag_make(struct dag *d, int layers, int reach, int most)
{
	d->layers = layers;
	d->first[0] = 0;
	for (int i = 0; i < layers; i++) {
		int e = d->first[i], count = i ? random_below(most + 1) : 0;
		for (int k = 0; k < count; k++) {
			int from = i - 1 - random_below(reach < i ? reach : i);
			bool repeat = false;
			for (int j = d->first[i]; j < e; j++)
				repeat |= d->edges[j] == from;
			if (!repeat)
				d->edges[e++] = from;
		}
		d->first[i + 1] = e;
	}
}

static int bits_at(const struct lanes *l, int row, int lane)
{
	return l->bits[(size_t)row * LANES_MAX + (size_t)lane];
}

static bool gap_at(const struct lanes *l, int row, int lane)
{
	return l->gap[(size_t)row * LANES_MAX + (size_t)lane];
}

/* Down the lane of `from`, then across to the node of `to`. */
static bool edge_drawn(const struct lanes *l, int from, int to)
{
	int lane = l->lane_of[from], target = l->lane_of[to];
	if (lane >= LANES_MAX || target >= LANES_MAX)
		return l->beyond[to];
	if (!(bits_at(l, from, lane) & LANE_DOWN) || !(bits_at(l, from, lane) & LANE_NODE))
		return false;
	for (int row = from + 1; row < to; row++)
		if ((bits_at(l, row, lane) & (LANE_UP | LANE_DOWN)) != (LANE_UP | LANE_DOWN) ||
			bits_at(l, row, lane) & LANE_NODE)
			return false;
	if (!(bits_at(l, to, lane) & LANE_UP) || !(bits_at(l, to, target) & LANE_NODE))
		return false;
	int left = lane < target ? lane : target, right = lane < target ? target : lane;
	for (int i = left; i < right; i++)
		if (!gap_at(l, to, i))
			return false;
	return lane == target || (bits_at(l, to, left) & LANE_RIGHT && bits_at(l, to, right) & LANE_LEFT);
}

/* What leaves a cell arrives in the next one. */
static int loose_ends(const struct lanes *l)
{
	int loose = 0;
	for (int row = 0; row < l->row_count; row++)
		for (int i = 0; i < LANES_MAX; i++) {
			int b = bits_at(l, row, i);
			bool down = b & LANE_DOWN,
			     up_below = row + 1 < l->row_count && bits_at(l, row + 1, i) & LANE_UP;
			loose += down != up_below;
			loose += row == 0 && b & LANE_UP;
			bool crossing = b & LANE_CROSS;
			if (i + 1 < LANES_MAX)
				loose += ((b & LANE_RIGHT) || crossing) != gap_at(l, row, i);
			if (i > 0)
				loose += ((b & LANE_LEFT) || crossing) != gap_at(l, row, i - 1);
		}
	return loose;
}

static int nodes_wrong(const struct lanes *l)
{
	int wrong = 0;
	for (int row = 0; row < l->row_count; row++) {
		int nodes = 0;
		for (int i = 0; i < LANES_MAX; i++)
			nodes += (bits_at(l, row, i) & LANE_NODE) != 0;
		wrong += nodes != (l->lane_of[row] < LANES_MAX);
	}
	return wrong;
}

static int overlaps(const struct lanes *l, const struct dag *d)
{
	int last[512], bad = 0;
	for (int i = 0; i < d->layers; i++)
		last[i] = i;
	for (int i = 0; i < d->layers; i++)
		for (int e = d->first[i]; e < d->first[i + 1]; e++)
			last[d->edges[e]] = i;
	/* a lane is free for the row on which its last reader stands only if the reader takes it over */
	for (int i = 0; i < d->layers; i++)
		for (int j = i + 1; j < d->layers && j <= last[i]; j++)
			if (l->lane_of[i] == l->lane_of[j] && j < last[i])
				bad++;
	return bad;
}

static void check(struct dag *d, const char *what)
{
	struct lanes l;
	lanes_make(&l, d->layers, d->first, d->edges);
	int undrawn = 0;
	for (int i = 0; i < d->layers; i++)
		for (int e = d->first[i]; e < d->first[i + 1]; e++)
			undrawn += !edge_drawn(&l, d->edges[e], i);
	is_int(undrawn, 0, "%s: every edge is drawn", what);
	if (l.width <= LANES_MAX)
		is_int(loose_ends(&l), 0, "%s: no loose ends", what);
	is_int(nodes_wrong(&l), 0, "%s: one node a row", what);
	is_int(overlaps(&l, d), 0, "%s: no overlaps", what);
	lanes_free(&l);
}

static void test_picture(void)
{
	/* 0 -> 1 -> 2 -> 4, 0 -> 3 -> 4: a residual block with a projection */
	static const int first[] = { 0, 0, 1, 2, 3, 5 }, edges[] = { 0, 1, 0, 2, 3 };
	struct lanes l;
	struct canvas c = { 0 };
	struct str out = { 0 };
	lanes_make(&l, 5, first, edges);
	is_int(l.width, 2, "two lanes");
	canvas_resize(&c, 6, 5);
	for (int i = 0; i < 5; i++)
		lanes_draw(&l, i, canvas_area(&c), 0, i, 2, 0x25cf, STYLE_NORMAL);
	canvas_print(&c, &out);
	is_str(out.p, "\u25cf\n\u251c\u2500\u25cf\n\u2502 \u25cf\n\u25cf \u2502\n\u25cf\u2500\u256f\n",
		"the picture");
	str_clear(&out);
	canvas_clear(&c);
	for (int i = 0; i < 5; i++)
		lanes_draw(&l, i, canvas_area(&c), 0, i, 1, 0x25cf, STYLE_NORMAL);
	canvas_print(&c, &out);
	is_str(out.p, "\u25cf\n\u251c\u00bb\n\u2502\u00bb\n\u25cf\u00bb\n\u25cf\u00bb\n",
		"what does not fit is marked");
	str_free(&out);
	canvas_free(&c);
	lanes_free(&l);
}

/* One output read by all, and one reader of all: wide, but linear. */
static void test_wide(void)
{
	enum { N = 20000 };
	int *first = base_calloc(N + 1, sizeof(int)), *edges = base_calloc(2 * N, sizeof(int)), e = 0;
	for (int i = 0; i < N; i++) {
		if (i == N - 1)
			for (int k = 0; k < N - 1; k++)
				edges[e++] = k;
		first[i + 1] = e;
	}
	struct lanes l;
	lanes_make(&l, N, first, edges);
	is_int(l.width, N - 1, "a lane each");
	ok(l.beyond[N - 1], "marked as too wide");
	lanes_free(&l);
	free(first);
	free(edges);
}

int main(void)
{
	test_picture();
	static struct dag d;
	for (int i = 0; i < 60; i++) {
		char what[32];
		snprintf(what, sizeof(what), "dag %d", i);
		dag_make(&d, 5 + random_below(300), 1 + random_below(6), 1 + random_below(3));
		check(&d, what);
	}
	dag_make(&d, 400, 300, 4);
	check(&d, "a wide one");
	test_wide();
	struct lanes none;
	static const int nothing[] = { 0 };
	lanes_make(&none, 0, nothing, NULL);
	is_int(none.width, 0, "no layers");
	lanes_free(&none);
	return done_testing();
}
