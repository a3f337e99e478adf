/* The DAG beside the list: every layer is one row, its output runs down a lane until its last reader.
 * Computed once per plan in O((layers + edges) log(lanes in use)). */
#ifndef UI_SCREEN_LANES_H
#define UI_SCREEN_LANES_H

#include "ui/screen/canvas.h"

/* Lanes kept for drawing; a row that uses further ones is marked as overflow. */
#define LANES_MAX 16

/* Lines in a lane's cell on one row. */
enum lane_bits {
	LANE_UP = 1, LANE_DOWN = 2, LANE_LEFT = 4, LANE_RIGHT = 8,
	LANE_NODE = 16,
	LANE_CROSS = 32  /* a line to a further lane passes under this one without touching it */
};

struct lanes {
	int row_count;
	int *lane_of;        /* per layer */
	int width;           /* most lanes in use at once; may exceed LANES_MAX */
	uint8_t *bits;       /* row_count rows of LANES_MAX */
	uint8_t *gap;        /* bit set: a line runs between lane i and i + 1; row_count rows of LANES_MAX */
	bool *beyond;        /* per row: something lies right of lane LANES_MAX - 1 */
};

/* preds of layer i (each < i, ascending or not, no repeats) in CSR form: edges[first[i]] .. edges[first[i +
 * 1] - 1]. */
void lanes_make(struct lanes *l, int layers, const int *first, const int *edges);
void lanes_free(struct lanes *l);
/* Draws a row in `lanes` lanes of two columns each; node is the symbol of the layer itself. */
void lanes_draw(const struct lanes *l, int row, struct area a, int x, int y, int lanes, uint32_t node,
	enum style node_look);

/* Draws a row without a layer below `row`: only the lines that run down past it. */
void lanes_pass(const struct lanes *l, int row, struct area a, int x, int y, int lanes);

#endif
