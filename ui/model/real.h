/* A real execution beside the bound, for header, list and details. Texts are valid until the next drawing. */
#ifndef UI_MODEL_REAL_H
#define UI_MODEL_REAL_H

#include "session/session_reality.h"
#include "ui/model/app.h"

/* Returns the newest execution with a known latency beside the bound, or NULL. */
const struct reality *app_reality(const struct app *app);
/* Returns the group of rows and layers that contains a layer, or NULL. */
const struct reality_group *app_real_group(const struct app *app, int layer);
/* Returns the real time of a group for its first layer; NaN for its other layers, and without a time. */
double app_real_ns(const struct app *app, int layer);
bool app_is_contradicted(const struct app *app, int layer);

/* "real 40.6 ms  ratio 0.96  2 contradicted  onnxruntime 1.32.0 CPUExecutionProvider", from long (form 0) to
 * short: REAL_ALONE is without the framework, REAL_FORMS - 1 is "". "" without an execution. */
#define REAL_ALONE 3
#define REAL_FORMS 6
const char *app_real_text(struct app *app, int form, enum style *style);
const char *app_real_framework(struct app *app); /* "onnxruntime 1.32.0" */
const char *app_real_of(struct app *app, const struct execution *e); /* the same of an execution */
/* How far the bound can be trusted (analyze/real/trust.h), in at most that many columns; "" without an
 * analysis. */
const char *app_trust_text(struct app *app, int columns, enum trust_verdict *verdict);
/* Returns the line of the model's figures; "" without an execution. */
const char *app_real_figure(struct app *app);

#endif
