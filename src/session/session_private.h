/* Internal interfaces: plans, analysis and measuring (session.c), the device (session_device.c), change of
 * device (session_choose.c). */
#ifndef SESSION_PRIVATE_H
#define SESSION_PRIVATE_H

#include "session/recorded.h"
#include "session/session.h"

void session_analysis_drop(struct session *s);
void session_sweep_drop(struct session *s);
/* Copies the device of a hello or record into the session. */
void session_device_adopt(struct session *s, const struct device *d);
/* Loads the results that a file of the data directory has for the current plan, all what-ifs included, and
 * for the device's peaks. */
int session_recorded_more(struct session *s, struct error *err);

/* Switches to a device of the data directory; `one` must live as long as the device. SESSION_UNREADABLE:
 * cannot be read. */
int session_use_file(struct session *s, const struct recorded *one, struct error *err);
/* Switches to a described device, with a planner; `d` must live as long as the device. */
void session_use_described(struct session *s, const struct described *d);
/* Frees the current device, the awaited one and those that are being closed. */
void session_device_free(struct session *s);

/* session_dims.c: -1 if --dim gives a dimension another value than --input or -b. p: the first plan. */
int session_check_options(const struct session *s, const struct plan *p, struct error *err);

#endif
