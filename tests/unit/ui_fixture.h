/* A session made by hand for tests of the explorer: a small residual network with repeated, unmeasured,
 * unsupported and hostile layers, real fusion and analysis, and a stand-in for session and queue, so that
 * every screen is the same on every machine. */
#ifndef UI_FIXTURE_H
#define UI_FIXTURE_H

#include "session/session.h"

struct fixture_options {
	bool queue;        /* there is one; else no runner answers */
	bool busy;         /* it is measuring the matmul; two problems wait */
	bool measured;     /* results for everything */
	bool nothing;      /* no results at all */
	bool peaks;        /* and the peaks of the device */
	bool disturbed;    /* and all of it taken on a machine that was never quiet */
	bool several_times; /* and all of it measured at three times */
	bool unbound;      /* the model has a dimension "sequence" without a value */
	bool proxies;      /* every layer's problem stands in */
	bool unsupported;  /* the library refuses everything */
	bool described;    /* the device is only described */
	bool control; /* instead: a loop, a choice that is known, one that is not, and an integer convolution
		       */
	bool scenarios;    /* four are configured: "fused", "eight", "away", "wrong" */
	bool sweep;        /* two batches and two data types are configured */
	bool agents;       /* two are configured: "near", "far" */
	bool real;         /* the database has an execution of the model */
	bool real_noisy;   /* and it is noisy */
	bool real_slow;    /* profiled runs take longer than the latency */
	bool real_two;     /* and an older one of openvino, with a row that the framework added */
	int chain;         /* > 0: instead, a chain of that many layers */
	bool scopes;       /* the chain is in scopes of 100 layers */
};

struct session *fixture_open(const struct fixture_options *o);
void fixture_close(struct session *s);

/* What was asked of the stand-ins. */
struct fixture_calls {
	int refresh, select, bind, missing, sweep, layer, layers, problem, cancel;
	int dropped, put_first, cleared; /* jobs of the queue */
	int again;         /* layers to be measured again */
	int64_t batch, value;
	enum dtype dtype;
	char name[64];
	char opened[64];   /* path of the model asked for last */
	char chosen[64];   /* key of the device asked for last */
	int agent_starts, agent_cancels, agent_frees;
	bool unreadable;   /* the configuration, when the agents are read again */
	char agent[64];    /* name of the agent started last */
};
extern struct fixture_calls fixture_calls;
/* What the next session_choose_step says of what is awaited: 1, 0 (the usual), -1 with "says no hello". */
extern int fixture_answer;
/* What session_set says; NULL: it accepts. */
extern const char *fixture_refusal;
/* What the next session_agent_step returns; AGENT_FAILED: with "boom"; AGENT_ENDED: an execution of 2 ms. */
extern int fixture_agent;
/* Problems that the points of the sweep still lack, once it was asked for. */
extern int fixture_sweep_open;
/* Conversions that are missing besides the problems of the plan, and as many peaks. */
extern int fixture_extra;
/* What queue_status says instead of the usual; NULL: the usual. */
extern const struct queue_status *fixture_status;
/* The contents of a file with golden screens, malloc'd; NULL: it cannot be read. */
char *fixture_read(const char *path);

#endif
