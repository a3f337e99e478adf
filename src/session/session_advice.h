/* Advice for the session's model and device. */
#ifndef SESSION_SESSION_ADVICE_H
#define SESSION_SESSION_ADVICE_H

#include "analyze/advice.h"
#include "session/session.h"

/* How a kind of advice is done. */
struct advice_how {
	const char *name, *onnxruntime, *tensorrt, *pytorch;
};
const struct advice_how *advice_how(enum advice_kind kind);

/* The scenario of a program that nothing has optimized: no what-if is on, and each layer runs the library's
 * first choice; launches are isolated if that bound is complete. */
struct scenario session_unoptimized(struct session *s);
/* advice_find for the current plan, and for f16 and bf16 where that is f32. */
struct advice_list session_advice(
	struct session *s, struct arena *a, const struct scenario *start, double target_ns);
/* The same for the current plan only, from the session's scenario on. Changes nothing in the session. */
struct advice_list session_advice_here(struct session *s, struct arena *a);

#endif
