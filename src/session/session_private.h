/* What the session_*.c share: plans, analysis and measuring (session.c), the device (session_device.c), and
 * another one instead (session_choose.c). */
#ifndef SESSION_PRIVATE_H
#define SESSION_PRIVATE_H

#include "session/recorded.h"
#include "session/session.h"

void session_analysis_drop(struct session *s);
void session_sweep_drop(struct session *s);
/* Takes over what a hello or a record says of the device. */
void session_device_adopt(struct session *s, const struct device *d);
/* Loads what a file of the data folder has for the current plan, all its what-ifs included, and of the device's peaks. */
int session_recorded_more(struct session *s, struct error *err);

/* One of the data folder comes into force; it must live as long as the device. SESSION_UNREADABLE: it cannot be read. */
int session_use_file(struct session *s, const struct recorded *one, struct error *err);
/* A description comes into force, with a planner; it must live as long as the device. */
void session_use_described(struct session *s, const struct described *d);
/* Frees what is in force of the device, and what is awaited or on its way out. */
void session_device_free(struct session *s);

#endif
