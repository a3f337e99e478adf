/* Scopes of the layers' names, which fold the list: "/layer1/layer1.0/conv1/Conv" is in layer1 and layer1.0.
 * Left out are scopes of one layer, those of all layers, those that another one fills, and modules of a
 * single operator. */
#ifndef UI_MODEL_SCOPES_H
#define UI_MODEL_SCOPES_H

#include "base/arena.h"
#include "session/state.h"

struct app;

/* A model with more listed layers opens with all scopes closed. */
#define SCOPES_OPEN_MAX 2000

struct scope {
	const char *path;      /* cleaned: "layer1.0" */
	int parent;            /* or -1 */
	int first;             /* its first listed layer, whose row shows the closed scope */
	int last_row;          /* row of the list up to which its layers follow the first without another */
	int layers;            /* listed layers of the model's own graph */
	bool closed;
	/* subtotals: scopes_totals */
	double ns;             /* of the known costs; NaN without any */
	double flops;          /* NaN if one is unknown */
	int missing;           /* layers without a cost */
	bool guess, critical;  /* it has proxies or estimates; a layer on the critical path */
	/* scope_worst */
	int own, child, next;  /* its first layer in no inner scope, its first inner scope, the next scope of
				  the same parent; or -1 */
	enum state worst;      /* the last answer, of this state of the queue and of app->generation */
	uint64_t worst_jobs, worst_at;
};

struct scopes {
	struct arena arena;
	int count, closed;
	struct scope *list;    /* parents before children */
	int *of;               /* per place: its innermost scope, or -1 */
	int *next;             /* per place: the next listed layer with the same innermost scope, or -1 */
	bool made;
	uint64_t totals_at;    /* app->generation of the subtotals */
	double most_ns;        /* highest subtotal of a closed scope */
};

/* After the list was rebuilt; scopes of the same path stay closed. */
void scopes_renew(struct app *app);
void scopes_free(struct scopes *s);
/* The outermost closed scope that contains the layer, or -1: its row stands for the layer. */
int scope_closed_around(const struct app *app, int layer);
/* The scope that the row of this layer shows: as above, for its first layer; else -1. */
int scope_shown_at(const struct app *app, int layer);
/* With subtotals that are up to date. */
const struct scope *scope_at(struct app *app, int scope);
/* The state that is most in need of attention. Looks at all its layers when something has changed: for scopes
 * on the screen. */
enum state scope_worst(struct app *app, int scope);
/* False: nothing changed. Opening is of the outermost closed scope, closing of the innermost open one; both
 * select what is shown then. */
bool scope_open(struct app *app, int layer);
bool scope_close(struct app *app, int layer);
void scope_reveal(struct app *app, int layer); /* opens all around the layer */
void scope_set(struct app *app, int scope, bool closed); /* selects nothing */
void scopes_set_all(struct app *app, bool closed);

#endif
