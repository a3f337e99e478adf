/* The states of one request, and the files that an agent may read during it: only those of the request. */
#include "config.h"

#include "drive/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "drive/gather.h"
#include "drive/runner_process.h"

struct agent {
	struct arena arena;
	const char *name;
	struct runner_process *process;
	struct agent_limits limits;
	const struct agent_request *request; /* NULL: none */
	bool sent;                           /* the request */
	int64_t id;                          /* id of the request, from 1 */
	int64_t started_ms;                  /* the request, or the process */
	int64_t cancelled_ms;                /* 0: not cancelled */
	int64_t sent_bytes;
	char what[128];
	struct gather gather;
};

struct agent *agent_start(const struct config_runner *r, struct error *err)
{
	struct runner_process *p = runner_process_start_agent(r->name, r->argv, r->env, err);
	if (!p)
		return NULL;
	struct agent *a = base_calloc(1, sizeof(*a));
	a->name = arena_strndup(&a->arena, r->name, strlen(r->name));
	a->process = p;
	a->limits = (struct agent_limits){ .hello = 30000, .silence = 30000, .job = 3600000, .grace = 5000 };
	a->started_ms = clock_ms();
	return a;
}

void agent_free(struct agent *a)
{
	if (!a)
		return;
	if (a->request) /* a busy agent would finish its request first */
		runner_process_stop_within(a->process, 0, RUNNER_TERM_MS);
	else
		runner_process_stop(a->process);
	gather_clear(&a->gather);
	arena_free(&a->arena);
	free(a);
}

struct agent_limits *agent_limits(struct agent *a)
{
	return &a->limits;
}

void agent_run(struct agent *a, const struct agent_request *r)
{
	a->request = r;
	a->sent = false;
	a->id++;
	a->cancelled_ms = 0;
	a->sent_bytes = 0;
	a->what[0] = '\0';
	a->started_ms = clock_ms();
	gather_clear(&a->gather);
}

void agent_cancel(struct agent *a)
{
	const struct wire_message cancel = { .type = WIRE_CANCEL, .id = a->id, .problem = "", .what = "" };
	if (!a->request || a->cancelled_ms)
		return;
	a->cancelled_ms = clock_ms();
	if (a->sent)
		runner_process_send(a->process, &cancel, NULL);
}

const struct execution *agent_execution(const struct agent *a)
{
	return &a->gather.execution;
}

const struct wire_trial *agent_trial(const struct agent *a)
{
	return a->gather.trial;
}

const struct device *agent_device(const struct agent *a)
{
	return runner_process_device(a->process);
}

int agent_fd(const struct agent *a)
{
	return runner_process_fd(a->process);
}

struct agent_progress agent_progress(const struct agent *a)
{
	const char *waits = runner_process_waits(a->process);
	struct agent_progress p = { .what = a->what,
		.waits = waits ? waits : "",
		.elapsed_s = (double)(clock_ms() - a->started_ms) / 1000,
		.sent_bytes = a->sent_bytes };
	const struct wire_model *m = a->request ? a->request->model : NULL;
	p.file_bytes = m ? m->bytes : 0;
	for (int i = 0; m && i < m->external_count; i++)
		p.file_bytes += m->external[i].bytes;
	return p;
}

/* --- files --- */

/* Reads `n` bytes of a file, which must still have the announced size. Returns NULL, or why it failed. */
static const char *read_part(const char *path, int64_t size, int64_t offset, char *bytes, int64_t n)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return strerror(errno);
	const char *why = NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size != size)
		why = "the file changed since its hash was computed";
	else if (pread(fd, bytes, (size_t)n, offset) != n)
		why = "the file cannot be read";
	close(fd);
	return why;
}

/* Sends a part of a file of the request; a request for any other file is an error. */
static int send_part(struct agent *a, const struct wire_message *need, struct error *err)
{
	const struct wire_model *m = a->request->model;
	const char *path = strcmp(need->sha256, m->sha256) == 0 ? m->path : NULL;
	int64_t size = m->bytes;
	for (int i = 0; i < m->external_count && !path; i++)
		if (strcmp(need->sha256, m->external[i].sha256) == 0) {
			path = a->request->externals[i];
			size = m->external[i].bytes;
		}
	if (!path)
		return error_set(
			err, "the agent %s requested a file that does not belong to the model", a->name);
	if (need->offset >= size)
		return error_set(err, "the agent %s requested bytes beyond the end of a file", a->name);
	int64_t n = size - need->offset < need->bytes ? size - need->offset : need->bytes;
	char *bytes = base_malloc((size_t)n);
	const char *why = read_part(path, size, need->offset, bytes, n);
	const struct wire_message part = { .type = WIRE_FILE, .id = a->id, .sha256 = need->sha256,
		.offset = need->offset, .what = why ? why : "", .data = { bytes, (size_t)n } };
	int bad = runner_process_send(a->process, &part, err);
	free(bytes);
	a->sent_bytes += why ? 0 : n;
	return bad;
}

/* --- messages --- */

/* Ends the request. Hash and source of the execution come from the request, not from the agent's message. */
static enum agent_state finish(struct agent *a, const struct wire_message *done, struct error *err)
{
	const char *hash = arena_printf(&a->gather.arena, "%s", a->request->model->sha256),
		   *model = arena_printf(&a->gather.arena, "%s", a->request->name);
	bool open = a->gather.open;
	a->request = NULL;
	if (!open) {
		error_set(err, "the agent %s %s%s", a->name,
			done->status == STATUS_OK ? "ended without an execution" : "failed: ",
			done->status == STATUS_OK ? ""
				: *done->what	  ? done->what
						  : status_name(done->status));
		return AGENT_FAILED;
	}
	const char *fault = gather_end(&a->gather);
	if (fault) {
		log_line("agent %s: an execution: %s", a->name, fault);
		gather_mistrust(&a->gather, fault);
	}
	a->gather.execution.source = "agent";
	a->gather.execution.model = model;
	a->gather.execution.model_hash = hash;
	return AGENT_ENDED;
}

static enum agent_state handle(struct agent *a, const struct wire_message *m, struct error *err)
{
	int bad = 0;
	bool mine = a->request && a->sent && m->id == a->id;
	if (m->type == WIRE_LOG)
		log_line("agent %s: %s", a->name, m->what);
	if (m->type == WIRE_HEARTBEAT && mine)
		text_fit(a->what, sizeof(a->what), m->what);
	if (m->type == WIRE_DONE && mine)
		return finish(a, m, err);
	if (m->type == WIRE_NEED && mine)
		bad = send_part(a, m, err);
	if ((m->type == WIRE_EXECUTION || m->type == WIRE_ROW) && mine) {
		bad = gather_take(&a->gather, m, err);
		if (bad)
			error_context(err, "the agent %s sent", a->name);
	}
	return bad ? AGENT_FAILED : AGENT_WORKS;
}

/* --- the loop --- */

/* Sends the request after the hello, which must be that of an agent. */
static int send_request(struct agent *a, struct error *err)
{
	const struct device *d = agent_device(a);
	if (!a->request || a->sent || !d)
		return 0;
	if (!jobs_contain(d->jobs, JOB_MODEL))
		return error_set(err, "%s is not an agent: its hello lists the jobs \"%s\", not %s", a->name,
			d->jobs, JOB_MODEL);
	const struct wire_message run = { .type = WIRE_RUN, .id = a->id, .kind = JOB_MODEL,
		.payload = a->request->payload, .budget_ms = a->request->budget_ms, .caches = { true },
		.launches = { true }, .model = a->request->model };
	a->sent = true;
	return runner_process_send(a->process, &run, err);
}

static int check_limits(struct agent *a, struct error *err)
{
	int64_t now = clock_ms();
	if (!agent_device(a)) {
		int64_t waited = now - runner_process_ready_ms(a->process);
		bool late = !runner_process_waits(a->process) && waited > a->limits.hello;
		return late ? runner_process_no_hello(a->process, (double)waited / 1000, err) : 0;
	}
	if (!a->request)
		return 0;
	if (a->cancelled_ms && now - a->cancelled_ms > a->limits.grace)
		return error_set(err, "the agent %s did not stop after a cancel; it was killed", a->name);
	if (a->sent && runner_process_silence_ms(a->process) > a->limits.silence &&
		now - a->started_ms > a->limits.silence)
		return error_set(err, "the agent %s sent nothing for %d s%s%s; it was killed", a->name,
			a->limits.silence / 1000, *a->what ? " while " : "", a->what);
	if (now - a->started_ms > a->limits.job)
		return error_set(err, "the agent %s did not finish within %d s; it was killed", a->name,
			a->limits.job / 1000);
	return 0;
}

enum agent_state agent_step(struct agent *a, int timeout_ms, struct error *err)
{
	for (bool waited = false;;) {
		struct wire_message m;
		int got = runner_process_read(a->process, &m, err);
		if (got < 0 || send_request(a, err))
			return AGENT_FAILED;
		if (got > 0) {
			enum agent_state state = handle(a, &m, err);
			wire_free(&m);
			if (state != AGENT_WORKS)
				return state;
			continue;
		}
		if (check_limits(a, err))
			return AGENT_FAILED;
		if (!a->request && agent_device(a))
			return AGENT_READY;
		if (waited)
			return AGENT_WORKS;
		struct pollfd at = { .fd = agent_fd(a), .events = POLLIN };
		poll(&at, 1, timeout_ms);
		waited = true;
	}
}
