/* Shared by serve*.c: the server's state, and what its threads send. */
#ifndef RUNNER_SERVE_PRIVATE_H
#define RUNNER_SERVE_PRIVATE_H

#include <pthread.h>

#include "runner/protocol/job.h"
#include "runner/protocol/serve.h"
#include "wire/wire.h"

struct queued {
	struct wire_message message;
	struct queued *next;
};

/* State of three threads: the main one measures, the reader reads jobs, the heart sends heartbeats. */
struct server {
	int in, out;
	struct serving *how;
	pthread_mutex_t writing;     /* held to write a complete line; guards the next two */
	bool spoke;                  /* a message was sent since the last look; counts as a heartbeat */
	int unwritten;               /* errno of a failed write, 0: none */
	pthread_mutex_t lock;        /* guards everything below */
	pthread_cond_t changed;
	struct queued *first, *last;
	int queued;
	int64_t current;             /* id of the current job, 0: none */
	bool cancel;                 /* cancel the current job */
	bool ended, quit;            /* input ended; quit requested */
	bool patient;                /* the input is a regular file */
	bool finished;               /* tells the heart to stop */
	const struct wire_message *job; /* the current one, while it is worked on, else NULL */
	int64_t step_ms;             /* clock_ms of its last sign of progress */
	bool given_up;               /* the heart ends the program */
	bool preparing;              /* the current job and those after it */
	const struct algorithm *trying;
	enum cache cache;
	enum launch launch;
};

/* --- serve.c --- */

void server_log(struct server *s, const char *text); /* sends a line for the log */
/* Sends the end of a job: its status, and why if it is not ok. */
void server_done(struct server *s, int64_t id, enum status status, const char *why);

/* --- serve_read.c --- */

/* The thread that reads messages and queues jobs. argument: the server. */
void *server_reader(void *argument);

#endif
