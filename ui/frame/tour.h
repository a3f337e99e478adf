/* The tour: boxes of text over the explorer that say what to press, and wait for it. Nothing but the keys of
 * the steps, keys that move, and those that skip or leave reaches the explorer. */
#ifndef UI_FRAME_TOUR_H
#define UI_FRAME_TOUR_H

#include <stdbool.h>
#include <stdint.h>

struct app;
struct area;

struct tour_step {
	const char *title, *text; /* {b} in the text is a key */
	const char *keys;         /* one key or a pair, as in struct key_row; of the last step: it leaves */
	const char *view;         /* in which view they are pressed */
};

/* NULL beyond the last. */
const struct tour_step *tour_step(int number);

/* Handles a key while the tour is on. */
void tour_key(struct app *app, uint32_t key);
/* Rows at the bottom of a screen that the box needs; 0: the tour is off. */
int tour_rows(struct app *app);
void tour_draw(struct app *app, struct area box);

#endif
