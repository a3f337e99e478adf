/* Advice for the session's model and device. */
#ifndef SESSION_SESSION_ADVICE_H
#define SESSION_SESSION_ADVICE_H

#include "analyze/advice.h"
#include "session/session.h"

/* The scenario of a program that nothing has optimized: no what-if is on, and each layer runs the library's
 * first choice; launches are isolated if that bound is complete. */
struct scenario session_unoptimized(struct session *s);
/* advice_find for the current plan, and for f16 and bf16 where that is f32. */
struct advice_list session_advice(
	struct session *s, struct arena *a, const struct scenario *start, double target_ns);

#endif
