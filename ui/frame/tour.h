/* The tour: boxes of text over the explorer that say what to press, and wait for it. Nothing but the keys of
 * the steps, keys that move, and those that skip or leave reaches the explorer. */
#ifndef UI_FRAME_TOUR_H
#define UI_FRAME_TOUR_H

#include "ui/stage/keys.h"

#include <stdbool.h>
#include <stdint.h>

struct app;
struct area;

struct tour_step {
	const char *title, *text; /* {measure} in the text: the key of that name (key_named) */
	const char *key;          /* name of the key to press; of the last step: it leaves */
	const char *with;         /* name of the key after it; NULL: none */
	const char *view;         /* in which view they are pressed */
};

/* NULL beyond the last. */
const struct tour_step *tour_step(int number);

/* The keys of a step, and their name in buf (TOUR_KEYS bytes), which it returns. */
#define TOUR_KEYS 32
const char *tour_keys(const struct tour_step *step, struct key_pair *keys, char *buf);
/* Adds the step's text with the names of keys. */
void tour_text(const struct tour_step *step, struct str *out);

/* Handles a key while the tour is on (tour_key.c). */
void tour_key(struct app *app, uint32_t key);
/* Rows at the bottom of a screen that the box needs; 0: the tour is off. */
int tour_rows(struct app *app);
void tour_draw(struct app *app, struct area box);

#endif
