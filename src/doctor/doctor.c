/* Runs the checks of this machine (doctor.h) and keeps their findings. */
#include "config.h"

#include "doctor/doctor_private.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* By topic, in the order in which they are shown. */
static const struct doctor_check *const topics[] = { doctor_cpu_checks, doctor_load_checks,
	doctor_memory_checks, doctor_variables_checks, doctor_device_checks, doctor_database_checks };

const char *doctor_outcome_name(enum doctor_outcome o)
{
	static const char *const names[DOCTOR_OUTCOMES] = { "ok", "bends", "unknown" };
	return names[o];
}

/* ---- findings ---- */

json_t *doctor_json(const struct doctor_finding *f)
{
	return json_pack("{s:s, s:o, s:s, s:o, s:o}", "check", f->check, "subject",
		*f->subject ? json_text(text_of(f->subject)) : json_null(), "outcome",
		doctor_outcome_name(f->outcome), "what", json_text(text_of(f->what)), "cure",
		*f->cure ? json_text(text_of(f->cure)) : json_null());
}

/* ---- readings and checks ---- */

static void options_copy(struct doctor *d, const struct doctor_options *o)
{
	struct doctor_runner *runners = ARENA_ARRAY(&d->kept, struct doctor_runner, o->runner_count);
	d->o = *o;
	d->o.root = arena_printf(&d->kept, "%s", o->root);
	d->o.db = o->db ? arena_printf(&d->kept, "%s", o->db) : NULL;
	d->o.version = o->version ? arena_printf(&d->kept, "%s", o->version) : NULL;
	d->o.runners = runners;
	for (int i = 0; i < o->runner_count; i++) {
		struct device *device = ARENA_NEW(&d->kept, struct device);
		runners[i] = (struct doctor_runner){ .name = arena_printf(&d->kept, "%s", o->runners[i].name),
			.error = arena_printf(
				&d->kept, "%s", o->runners[i].error ? o->runners[i].error : "") };
		if (!o->runners[i].device)
			continue;
		*device = device_copy(&d->kept, o->runners[i].device);
		runners[i].device = device;
	}
}

int doctor_due_ms(const struct doctor *d)
{
	int64_t left = d->opened_ms + d->o.window_ms - clock_ms();
	return left > 0 ? (int)left : 0;
}

struct doctor *doctor_open(const struct doctor_options *o)
{
	struct doctor *d = base_calloc(1, sizeof(*d));
	options_copy(d, o);
	d->opened_ms = clock_ms();
	doctor_reading(d, &d->first);
	arena_free(&d->arena);
	return d;
}

void doctor_close(struct doctor *d)
{
	if (!d)
		return;
	hash_free(&d->ticks);
	free(d->findings);
	arena_free(&d->arena);
	arena_free(&d->kept);
	free(d);
}

const struct doctor_finding *doctor_look(struct doctor *d, int *count)
{
	arena_free(&d->arena);
	d->count = 0;
	doctor_reading(d, &d->now);
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++)
		for (d->at = topics[i]; d->at->name; d->at++)
			d->at->look(d);
	*count = d->count;
	return d->findings;
}
