#include "config.h"

#include "ui/lanes.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

/* Lanes free at the moment: the lowest is given out first, so that the drawing stays narrow. */
struct pool {
	uint64_t *words; /* bit set: taken */
	size_t count;
	size_t lowest;   /* no word before it has a free bit */
};

static int pool_take(struct pool *p)
{
	while (p->lowest < p->count && p->words[p->lowest] == UINT64_MAX)
		p->lowest++;
	if (p->lowest == p->count) {
		p->words = base_realloc(p->words, ++p->count * sizeof(*p->words));
		p->words[p->lowest] = 0;
	}
	int bit = __builtin_ctzll(~p->words[p->lowest]);
	p->words[p->lowest] |= UINT64_C(1) << bit;
	return (int)p->lowest * 64 + bit;
}

static void pool_give(struct pool *p, int lane)
{
	size_t word = (size_t)lane / 64;
	p->words[word] &= ~(UINT64_C(1) << (lane % 64));
	if (word < p->lowest)
		p->lowest = word;
}

static bool pool_has(const struct pool *p, int lane)
{
	return (size_t)lane / 64 < p->count && (p->words[lane / 64] >> (lane % 64) & 1);
}

static void set(uint8_t *cells, int lane, int bits)
{
	if (lane < LANES_MAX)
		cells[lane] |= (uint8_t)bits;
}

/* The line from a reader's node to the lane it reads. */
static void connect(struct lanes *l, int row, int from, int to)
{
	uint8_t *bits = l->bits + (size_t)row * LANES_MAX, *gap = l->gap + (size_t)row * LANES_MAX;
	int left = from < to ? from : to, right = from < to ? to : from;
	for (int i = left; i < right && i < LANES_MAX; i++)
		gap[i] = 1;
	set(bits, left, LANE_RIGHT);
	set(bits, right, LANE_LEFT);
}

/* Lanes that only pass this row: down they go, and a line across runs under them. */
static void pass(struct lanes *l, int row, const struct pool *p)
{
	uint8_t *bits = l->bits + (size_t)row * LANES_MAX, *gap = l->gap + (size_t)row * LANES_MAX;
	for (int i = 0; i < LANES_MAX; i++) {
		bool across = i > 0 && gap[i - 1] && gap[i];
		if (pool_has(p, i) && !bits[i])
			bits[i] = LANE_UP | LANE_DOWN | (across ? LANE_CROSS : 0);
		else if (across)
			bits[i] |= LANE_LEFT | LANE_RIGHT;
	}
}

static void place(struct lanes *l, int row, const int *preds, int count, const int *last, struct pool *p)
{
	uint8_t *bits = l->bits + (size_t)row * LANES_MAX;
	int lane = -1;
	for (int i = 0; i < count; i++)
		if (last[preds[i]] == row && (lane < 0 || l->lane_of[preds[i]] < lane))
			lane = l->lane_of[preds[i]];
	if (lane < 0)
		lane = pool_take(p);
	l->lane_of[row] = lane;
	set(bits, lane, LANE_NODE | (last[row] > row ? LANE_DOWN : 0));
	bool wide = lane >= LANES_MAX;
	for (int i = 0; i < count; i++) {
		int from = l->lane_of[preds[i]];
		wide |= from >= LANES_MAX;
		set(bits, from, LANE_UP | (last[preds[i]] > row ? LANE_DOWN : 0));
		if (from != lane)
			connect(l, row, lane, from);
	}
	pass(l, row, p);
	for (int i = 0; i < count; i++)
		if (last[preds[i]] == row && l->lane_of[preds[i]] != lane)
			pool_give(p, l->lane_of[preds[i]]);
	if (last[row] <= row)
		pool_give(p, lane);
	l->width = lane + 1 > l->width ? lane + 1 : l->width;
	l->beyond[row] = wide;
}

void lanes_make(struct lanes *l, int layers, const int *first, const int *edges)
{
	size_t n = (size_t)layers;
	*l = (struct lanes){ .row_count = layers };
	l->lane_of = base_calloc(n + 1, sizeof(int));
	l->bits = base_calloc(n + 1, LANES_MAX);
	l->gap = base_calloc(n + 1, LANES_MAX);
	l->beyond = base_calloc(n + 1, sizeof(bool));
	int *last = base_calloc(n + 1, sizeof(int));
	for (int i = 0; i < layers; i++)
		for (int e = first[i]; e < first[i + 1]; e++)
			last[edges[e]] = i;
	struct pool pool = { 0 };
	for (int i = 0; i < layers; i++)
		place(l, i, edges + first[i], first[i + 1] - first[i], last, &pool);
	free(pool.words);
	free(last);
}

void lanes_free(struct lanes *l)
{
	free(l->lane_of);
	free(l->bits);
	free(l->gap);
	free(l->beyond);
	*l = (struct lanes){ 0 };
}

/* By up 1, down 2, left 4, right 8. */
static const uint32_t joints[16] = {
	' ', 0x2575, 0x2577, 0x2502, 0x2574, 0x256f, 0x256e, 0x2524,
	0x2576, 0x2570, 0x256d, 0x251c, 0x2500, 0x2534, 0x252c, 0x253c,
};

void lanes_draw(const struct lanes *l, int row, struct area a, int x, int y, int lanes, uint32_t node,
	enum look node_look)
{
	const uint8_t *bits = l->bits + (size_t)row * LANES_MAX, *gap = l->gap + (size_t)row * LANES_MAX;
	int shown = lanes < LANES_MAX ? lanes : LANES_MAX;
	bool more = l->beyond[row];
	for (int i = 0; i < LANES_MAX; i++) {
		if (i >= shown) {
			more |= bits[i] != 0;
			continue;
		}
		bool is_node = bits[i] & LANE_NODE;
		if (bits[i])
			canvas_put(a, x + 2 * i, y, is_node ? node_look : LOOK_DIM,
				is_node ? node : joints[bits[i] & 15]);
		if (gap[i])
			canvas_put(a, x + 2 * i + 1, y, LOOK_DIM, 0x2500);
	}
	if (more && shown > 0)
		canvas_put(a, x + 2 * shown - 1, y, LOOK_WARN, 0xbb);
}
