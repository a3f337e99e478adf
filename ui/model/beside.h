/* Devices that the user marked: the view scenarios shows the present scenario on them
 * (session/scenarios.h). */
#ifndef UI_MODEL_BESIDE_H
#define UI_MODEL_BESIDE_H

#include "ui/model/app.h"

/* The place of a device among the marked ones, or -1. */
int app_beside_at(const struct app *app, const struct session_device *d);
/* Marks a device, or removes its mark, and says so. */
void app_beside_toggle(struct app *app, const struct session_device *d);

/* Marks it, if it is not; false: BESIDE_MOST are marked. Strings are copied. */
bool app_beside_add(struct app *app, const struct session_device *d);
void app_beside_clear(struct app *app);

#endif
