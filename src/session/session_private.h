/* What the session_*.c share: plans, analysis and measuring (session.c), the device (session_device.c). */
#ifndef SESSION_PRIVATE_H
#define SESSION_PRIVATE_H

#include "session/recorded.h"
#include "session/session.h"

void session_analysis_drop(struct session *s);
/* Takes over what a hello or a record says of the device. */
void session_device_adopt(struct session *s, const struct device *d);
/* Loads what a file of the data folder has for the current plan, all its what-ifs included, and of the device's peaks. */
int session_recorded_more(struct session *s, struct error *err);

#endif
