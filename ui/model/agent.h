/* The key that runs the model on an agent. */
#ifndef UI_MODEL_AGENT_H
#define UI_MODEL_AGENT_H

#include "ui/model/app.h"

/* Starts the chosen agent, at once or after measuring; cancels it if it runs or waits. The footer has
 * progress, result and errors; the result is stored and shown beside the bound. */
void app_agent_key(struct app *app);
/* Chooses the next configured agent; the first is the default. */
void app_agent_choose(struct app *app);
/* Cancels the run. Returns false if no agent ran or waited. */
bool app_agent_cancel(struct app *app);
/* Advances the run without blocking; call it as often as queue_step. */
void app_agent_step(struct app *app);
bool app_agent_is_busy(const struct app *app); /* an agent runs, or the model's files are read for it */
bool app_agent_is_reading(const struct app *app); /* app_agent_step must be called again at once */
bool app_agent_can_run(const struct app *app);
int app_agent_fd(const struct app *app); /* to poll; -1: no agent runs */
/* Returns "ort: 12 of 50 samples  0:07  e cancels"; call it only while an agent is busy. */
const char *app_agent_text(struct app *app);

#endif
