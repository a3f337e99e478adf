/* Runs a queue with a progress bar: bench, and problems that compare measures again. */
#include "config.h"

#include "commands/bench.h"
#include "commands/interrupt.h"
#include "commands/keep.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define STEP_MS 1000 /* a working runner sends progress every half second */
#define DRAW_MS 500
#define BAR_WIDTH 24

static void progress_clear(void)
{
	fputs("\r\x1b[K", stderr);
}

/* Batch and data type of the current problem, followed by blanks; "" if there is a single scenario. */
static const char *scenario_text_of(const struct session *s,
	char *buf, size_t size, const struct options *o, const struct wanted *w, const char *problem)
{
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	int batch_count = options_batches(o, batches), dtype_count = options_dtypes(o, dtypes);
	buf[0] = '\0';
	for (int i = 0; problem && w && batch_count * dtype_count > 1 && i < w->count; i++)
		if (strcmp(w->problems[i].text, problem) == 0) {
			int at = w->problems[i].scenario;
			session_sweep_text(
				s, buf, size - 2, batches[at / dtype_count], dtypes[at % dtype_count]);
			return strcat(buf, "  ");
		}
	return buf;
}

static void progress_draw(const struct session *s, const struct queue_status *q, const struct options *o,
	const struct wanted *w)
{
	int total = q->pending + q->running + q->done + q->failed + q->unsupported;
	int finished = q->done + q->failed + q->unsupported;
	if (q->quick) {
		total = q->quick + q->quick_ended;
		finished = q->quick_ended;
	}
	int filled = total ? BAR_WIDTH * finished / total : 0;
	char eta[32] = "", runners[48] = "", current[31], scenario[48];
	if (!isnan(q->eta_s))
		snprintf(eta, sizeof(eta), "%d:%02d left", (int)q->eta_s / 60, (int)q->eta_s % 60);
	if (q->workers > 1)
		snprintf(runners, sizeof(runners), "%d of %d runners  ", q->workers_up, q->workers);
	progress_clear();
	fputc('[', stderr);
	for (int i = 0; i < BAR_WIDTH; i++)
		fputs(i < filled ? (o->ascii ? "#" : "\xe2\x96\x87") : " ", stderr);
	fprintf(stderr, "] %s%d/%d  %s%-12s %s%s", q->quick ? "first pass " : "", finished, total, runners,
		q->starting ? "starting" : eta,
		scenario_text_of(s, scenario, sizeof(scenario), o, w, q->current),
		text_fit(current, *runners || *scenario ? 21 : 31, q->current ? q->current : q->waiting));
	fflush(stderr);
}

int bench_drain(struct session *s, const struct options *o, const struct wanted *w,
	struct bench_eta *estimates, struct error *err)
{
	bool bar = isatty(STDERR_FILENO) && !o->quiet;
	int64_t drawn = 0;
	int status = EXIT_DONE;
	for (;;) {
		struct queue_status q = queue_status(session_queue(s));
		if (estimates)
			bench_eta_note(estimates, q.elapsed_s, q.eta_s);
		if (q.idle)
			break;
		if (bar && clock_ms() - drawn > DRAW_MS) {
			progress_draw(s, &q, o, w);
			drawn = clock_ms();
		}
		if (interrupted) {
			queue_cancel(session_queue(s));
			break;
		}
		if (queue_step(session_queue(s), STEP_MS, err) < 0) {
			status = EXIT_NO_DEVICE;
			break;
		}
		keep_on(session_store(s), o->quiet);
		if (store_is_gone(session_store(s))) { /* results could not be stored */
			status = EXIT_BAD;
			break;
		}
	}
	if (bar)
		progress_clear();
	return status;
}
