/* Lanes come from a heap of free ones, the lowest first (O(log n) each), which keeps the drawing narrow. */
#include "config.h"

#include "ui/screen/lanes.h"

#include "base/arena.h"

#include <stdlib.h>

/* Allocator of lanes: gives out the lowest free one, to keep the drawing narrow. */
struct pool {
	int *given;      /* min-heap of freed lanes */
	int count, capacity;
	int next;        /* first lane never used */
	uint32_t taken;  /* bit set of the first LANES_MAX lanes in use */
};

/* The lowest free lane: the minimum of a binary heap, else a new one (Williams, Heapsort, Communications
 * of the ACM 7, 1964). The last element sifts down from the root with one move per level: O(log n). */
static int pool_take(struct pool *p)
{
	int lane = p->next;
	if (p->count == 0) {
		p->next++;
	} else {
		lane = p->given[0];
		int last = p->given[--p->count], i = 0;
		for (int child; (child = 2 * i + 1) < p->count; i = child) {
			child += child + 1 < p->count && p->given[child + 1] < p->given[child];
			if (p->given[child] >= last)
				break;
			p->given[i] = p->given[child];
		}
		p->given[i] = last;
	}
	p->taken |= lane < LANES_MAX ? UINT32_C(1) << lane : 0;
	return lane;
}

/* Returns a lane: sifts it up the heap, O(log n), and clears its bit if it is one of the drawn lanes. */
static void pool_give(struct pool *p, int lane)
{
	p->taken &= lane < LANES_MAX ? ~(UINT32_C(1) << lane) : UINT32_MAX;
	VEC_GROW(p->given, p->count, p->capacity);
	int i = p->count++;
	for (int parent; i > 0 && p->given[parent = (i - 1) / 2] > lane; i = parent)
		p->given[i] = p->given[parent];
	p->given[i] = lane;
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

/* Draws lanes that only pass this row: vertical, with horizontal lines crossing under them. */
static void pass(struct lanes *l, int row, const struct pool *p)
{
	uint8_t *bits = l->bits + (size_t)row * LANES_MAX, *gap = l->gap + (size_t)row * LANES_MAX;
	for (int i = 0; i < LANES_MAX; i++) {
		bool across = i > 0 && gap[i - 1] && gap[i];
		if ((p->taken >> i & 1) && !bits[i])
			bits[i] = LANE_UP | LANE_DOWN | (across ? LANE_CROSS : 0);
		else if (across)
			bits[i] |= LANE_LEFT | LANE_RIGHT;
	}
}

/* Places the row's node: it continues the leftmost lane whose value is read here for the last time, else
 * takes the lowest free one (left-edge rule of interval colouring: Hashimoto and Stevens, 1971). Draws
 * the lines to its inputs; then frees lanes that end here. O(inputs * (LANES_MAX + log lanes)). */
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

/* Assigns each layer a lane from its row to its last reader: first the last reader of each, then one pass
 * in row order, so lanes in use never overlap and their number is close to the most values alive at a
 * row. O((layers + edges) * (LANES_MAX + log lanes)) time, 2 * LANES_MAX bytes per row. */
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
	free(pool.given);
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

/* Index: bits up 1, down 2, left 4, right 8. */
static const uint32_t joints[16] = {
	' ', 0x2575, 0x2577, 0x2502, 0x2574, 0x256f, 0x256e, 0x2524,
	0x2576, 0x2570, 0x256d, 0x251c, 0x2500, 0x2534, 0x252c, 0x253c,
};

/* Draws one row: in each lane the node or the joint that the four direction bits index (Unicode box
 * drawing), between lanes the horizontal lines. A mark at the right shows that something lies beyond the
 * lanes that fit. */
void lanes_draw(const struct lanes *l, int row, struct area a, int x, int y, int lanes, uint32_t node,
	enum style node_look)
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
			canvas_put(a, x + 2 * i, y, is_node ? node_look : STYLE_DIM,
				is_node ? node : joints[bits[i] & 15]);
		if (gap[i])
			canvas_put(a, x + 2 * i + 1, y, STYLE_DIM, 0x2500);
	}
	if (more && shown > 0)
		canvas_put(a, x + 2 * shown - 1, y, STYLE_WARN, 0xbb);
}

void lanes_pass(const struct lanes *l, int row, struct area a, int x, int y, int lanes)
{
	const uint8_t *bits = l->bits + (size_t)row * LANES_MAX;
	for (int i = 0; i < lanes && i < LANES_MAX; i++)
		if (bits[i] & LANE_DOWN)
			canvas_put(a, x + 2 * i, y, STYLE_DIM, 0x2502);
}
