/* The reading thread: splits lines, queues jobs, and cancels. */
#include "config.h"

#include "runner/protocol/serve_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/measure/preempt.h"

#define QUEUE_MOST 100000

static void drop_all(struct server *s)
{
	while (s->first) {
		struct queued *q = s->first;
		s->first = q->next;
		server_done(s, q->message.id, STATUS_FAILED, "cancelled");
		wire_free(&q->message);
		free(q);
	}
	s->last = NULL;
	s->queued = 0;
}

/* id 0: cancels all jobs; else the current job or a queued one. */
static void cancel(struct server *s, int64_t id)
{
	if (id == 0)
		drop_all(s);
	s->cancel = s->cancel || (s->current && (id == 0 || id == s->current));
	struct queued *before = NULL;
	for (struct queued *q = s->first; q; before = q, q = q->next) {
		if (q->message.id != id)
			continue;
		*(before ? &before->next : &s->first) = q->next;
		s->last = s->last == q ? before : s->last;
		s->queued--;
		server_done(s, id, STATUS_FAILED, "cancelled");
		wire_free(&q->message);
		free(q);
		break;
	}
}

/* Queues the message or refuses it. Jobs from a file wait for room instead; when the server has finished they
 * are dropped. */
static void enqueue(struct server *s, struct wire_message *m)
{
	while (s->patient && s->queued >= QUEUE_MOST && !s->quit && !s->finished)
		pthread_cond_wait(&s->changed, &s->lock);
	if (s->finished) {
		wire_free(m);
		return;
	}
	if (s->queued >= QUEUE_MOST) {
		server_done(s, m->id, STATUS_FAILED, "too many jobs are waiting");
		wire_free(m);
		return;
	}
	struct queued *q = base_malloc(sizeof(*q));
	*q = (struct queued){ *m, NULL };
	*(s->last ? &s->last->next : &s->first) = q;
	s->last = q;
	s->queued++;
}

static void message_take(struct server *s, struct wire_message *m)
{
	pthread_mutex_lock(&s->lock);
	if (m->type == WIRE_RUN || m->type == WIRE_ALGORITHMS) {
		enqueue(s, m);
	} else {
		if (m->type == WIRE_CANCEL) {
			cancel(s, m->id);
		} else if (m->type == WIRE_QUIT) {
			s->quit = s->cancel = true;
		} else {
			server_log(s, "error: a runner sends this message but does not accept it");
		}
		wire_free(m);
	}
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static void line_take(struct server *s, const char *line, size_t n)
{
	struct error err = ERROR_NONE;
	struct wire_message m;
	while (n && (line[n - 1] == '\r' || line[n - 1] == ' '))
		n--;
	if (n == 0)
		return;
	if (wire_parse(line, n, &m, &err) == 0) {
		message_take(s, &m);
	} else if (m.id > 0) {
		server_done(s, m.id, STATUS_FAILED, err.text);
	} else {
		error_context(&err, "error");
		server_log(s, err.text);
	}
}

/* Takes all complete lines out of the buffer. A line longer than the limit is dropped up to its end. */
static void lines_take(struct server *s, struct str *buffer, bool *dropping)
{
	size_t at = 0;
	for (char *end; at < buffer->n && (end = memchr(buffer->p + at, '\n', buffer->n - at));) {
		size_t n = (size_t)(end - buffer->p) - at;
		if (!*dropping)
			line_take(s, buffer->p + at, n);
		*dropping = false;
		at += n + 1;
	}
	size_t rest = buffer->n - at;
	if (rest > WIRE_LINE_MAX && !*dropping) {
		server_log(s, "error: a line is longer than 1 MiB");
		*dropping = true;
	}
	if (*dropping)
		rest = 0;
	else
		memmove(buffer->p, buffer->p + at, rest);
	buffer->n = rest;
}

static bool is_finished(struct server *s)
{
	pthread_mutex_lock(&s->lock);
	bool finished = s->finished;
	pthread_mutex_unlock(&s->lock);
	return finished;
}

void *server_reader(void *argument)
{
	struct server *s = argument;
	struct str buffer = { 0 };
	char chunk[65536];
	bool dropping = false;
	preempt_leave_out();
	while (!is_finished(s)) {
		ssize_t n = read(s->in, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		str_add(&buffer, chunk, (size_t)n);
		lines_take(s, &buffer, &dropping);
	}
	if (!dropping && buffer.n) /* the last line may lack its newline */
		line_take(s, buffer.p, buffer.n);
	str_free(&buffer);
	pthread_mutex_lock(&s->lock);
	s->ended = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}
