/* What follows from new results: problems to measure that depend on them, then the analysis. */
#include "config.h"

#include "session/session_private.h"

bool session_refresh(struct session *s)
{
	if (s->sweep.variants != scenario_variants(&s->scenario))
		session_sweep_drop(s);
	if (s->besides_due && s->seat->queue)
		session_measure_besides(s);
	bool anew = session_analyze(s);
	session_repeat_when_idle(s);
	return session_analyze(s) || anew;
}
