/* A session: opening it, another model, another plan. Each is made whole beside the present one before it
 * takes its place. */
#include "config.h"

#include "session/scenarios.h"
#include "session/session_private.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- what is shown ---- */

static void show(struct session *s, struct session_plan *sp)
{
	if (sp != s->current)
		session_analysis_drop(s); /* it points into the plan */
	s->current = sp;
	s->stale = true;
	session_set_distance(s);
}

void session_use(struct session *s, const struct scenario *scenario)
{
	s->matrix_given |= scenario->matrix != s->scenario.matrix;
	s->scenario = *scenario;
	s->stale = true;
}

/* The initial value of the what-if assume. */
static bool assume_meant(const struct session *s)
{
	struct scenario said = scenario_default();
	said.assume = subject_assumes(s->subject);
	if (s->given->what_if)
		scenario_parse(&said, s->given->what_if, NULL);
	return said.assume;
}

/* The what-ifs of the options and the configuration. */
static int what_ifs_begin(struct session *s, struct error *err)
{
	const struct config *c = s->given;
	struct scenario with = scenario_default();
	with.best = !c->algorithms || strcmp(c->algorithms, "preferred") != 0;
	int bad = c->what_if ? scenario_parse(&with, c->what_if, err) : 0;
	session_use(s, &with);
	s->matrix_given = scenarios_say_matrix(c->what_if);
	return bad;
}

void session_reset_what_ifs(struct session *s)
{
	what_ifs_begin(s, NULL); /* session_open has read them */
	s->scenario.assume = assume_meant(s);
}

void session_choose_matrix(struct session *s)
{
	s->matrix_given = true;
}

bool session_matrix_chosen(const struct session *s)
{
	return s->matrix_given;
}

void session_effects_within(struct session *s, int ms)
{
	s->effects_ms = ms;
}

void session_exports_set(struct session *s, const struct session_export *table)
{
	s->exports = table;
}

/* ---- opening, closing ---- */

static int db_open(struct session *s, struct error *err)
{
	const char *path = s->given->db ? s->given->db : config_default_db(&s->arena);
	bool read_only = s->options.db == SESSION_DB_READ;
	struct stat st;
	if (read_only && ((stat(path, &st) && errno == ENOENT) || (S_ISREG(st.st_mode) && st.st_size == 0)))
		return 0;
	enum store_fault fault = STORE_FAULT_OTHER;
	struct error why = ERROR_NONE;
	s->store = store_open_or(path, read_only, &fault, &why);
	bool tries = s->options.db == SESSION_DB_TRY;
	if (tries)
		s->options.db = SESSION_DB_WRITE;
	if (s->store || (read_only && fault == STORE_FAULT_EMPTY))
		return 0;
	if (!tries || (fault != STORE_FAULT_FULL && (s->given->db || fault != STORE_FAULT_UNWRITABLE)))
		return error_set(err, "%s", why.text);
	snprintf(s->unkept, sizeof(s->unkept), "%s", why.text);
	s->options.db = SESSION_DB_READ;
	s->store = store_open(path, true, &why);
	return 0;
}

struct session *session_open(struct config *config, const struct session_options *o, struct error *err)
{
	struct session *s = base_calloc(1, sizeof(*s));
	s->given = config;
	s->options = *o;
	s->seat = seat_new(config);
	s->gpu_asked = described_is_named(config);
	s->subject = subject_load(s, o, err);
	if (!s->subject || db_open(s, err) || what_ifs_begin(s, err) || subject_gather(s, s->subject, err)) {
		session_close(s);
		return NULL;
	}
	s->scenario.assume = assume_meant(s);
	return s;
}

/* Replaces the present model and everything that belongs to it. */
static void subject_take(struct session *s, struct session_subject *next, struct session_plan *sp)
{
	struct session_subject *old = s->subject;
	session_analysis_drop(s);
	session_sweep_drop(s);
	s->subject = next;
	s->seat->asked = NULL;
	s->repeats_due = 0; /* of plans of the old one */
	show(s, sp);
	subject_free(old);
}

int session_turn_to(struct session *s, const char *model_path, struct error *err)
{
	struct session_options o = s->subject->given;
	o.model_path = model_path;
	struct session_subject *next = subject_open(s, &o, err);
	if (!next)
		return -1;
	subject_take(s, next, NULL);
	s->scenario.assume = assume_meant(s);
	return 0;
}

int session_replace(struct session *s, const char *model_path, int64_t batch, enum dtype dtype,
	struct error *err)
{
	struct session_options o = s->options;
	o.model_path = model_path;
	o.dim_count = o.shape_count = o.value_count = o.assume_count = 0;
	struct session_subject *next = subject_open(s, &o, err);
	struct session_plan *sp = next ?
		plan_get(s, next, s->seat, &(struct variant){ .batch = batch, .dtype = dtype }, err) : NULL;
	if (!sp) {
		subject_free(next);
		return -1;
	}
	subject_take(s, next, sp);
	s->scenario.assume = subject_assumes(next);
	return 0;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	session_analysis_drop(s);
	session_sweep_drop(s);
	seat_free(s->seat);
	seat_free(s->awaited);
	seats_free(&s->compared);
	seats_free(&s->leaving);
	subject_free(s->subject);
	session_digests_free(s);
	if (s->store)
		store_close(s->store);
	arena_free(&s->arena);
	free(s);
}

/* ---- plans ---- */

int session_select(struct session *s, int64_t batch, enum dtype dtype, struct error *err)
{
	const struct variant v = { .batch = batch, .dtype = dtype };
	int before = s->subject->plan_count;
	struct session_plan *sp = plan_get(s, s->subject, s->seat, &v, err);
	if (!sp)
		return -1;
	if (!s->current && session_check_options(s, sp->plan, err)) {
		plans_keep(s->subject, NULL);
		return -1;
	}
	if (s->subject->plan_count > before) /* the model accepts them */
		session_dims_remember(s, s->subject->given.dims, s->subject->given.dim_count);
	show(s, sp);
	return 0;
}

void session_follow_device(struct session *s)
{
	struct error err = ERROR_NONE;
	if (s->current && !plan_fits(s, s->seat, s->current->plan) &&
		session_select(s, s->current->batch, s->current->dtype, &err))
		log_line("%s", err.text);
}

int session_bind(struct session *s, const struct dim_binding *dims, int count, struct error *err)
{
	return session_set(s, session_batch(s), session_dtype(s), dims, count, err);
}

int session_set(struct session *s, int64_t batch, enum dtype dtype, const struct dim_binding *dims, int count,
	struct error *err)
{
	const struct variant v = { .batch = batch, .dtype = dtype, .dim_count = count, .dims = dims };
	struct session_subject *u = s->subject;
	struct session_plan *sp = count ? plan_get(s, u, s->seat, &v, err) : NULL;
	if (!count)
		return session_select(s, batch, dtype, err);
	if (!sp)
		return -1;
	session_dims_remember(s, dims, count);
	session_sweep_drop(s); /* its problems have the sizes of before */
	show(s, sp);
	plans_keep(u, sp);
	s->seat->asked = NULL;
	sizes_free(u->sizes);
	u->sizes = sp->sizes;
	sp->sizes = NULL;
	return 0;
}
