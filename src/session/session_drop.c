/* What ends with the plan, the model or the device that is shown. */
#include "config.h"

#include "session/session_advice.h"
#include "session/session_private.h"

void session_analysis_clear(struct session *s)
{
	arena_clear(&s->analysis_arena);
	s->analysis = NULL;
	s->effects = NULL;
	s->effect_count = 0;
	session_reality_drop(s);
}

void session_analysis_drop(struct session *s)
{
	session_analysis_clear(s);
	session_advice_cancel(s);
	arena_free(&s->analysis_arena);
	analyzer_free(s->analyzer);
	s->analyzer = NULL;
}

void session_advice_release(struct session *s)
{
	for (int i = 0; i < s->advice_type_count; i++)
		variant_close(&s->advice_types[i]);
	s->advice_type_count = 0;
	s->advice = NULL;
	s->advice_done = false;
}

void session_advice_cancel(struct session *s)
{
	advice_cancel(s->advice);
	session_advice_release(s);
}

void session_sweep_drop(struct session *s)
{
	arena_free(&s->sweep.arena);
	s->sweep = (struct session_sweep){ 0 };
}
