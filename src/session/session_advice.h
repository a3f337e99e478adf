/* Advice for the session's model and device. */
#ifndef SESSION_SESSION_ADVICE_H
#define SESSION_SESSION_ADVICE_H

#include "analyze/advice/advice.h"
#include "session/variant.h"

/* How a kind of advice is done in each framework. */
enum advice_framework { ADVICE_ONNXRUNTIME, ADVICE_TENSORRT, ADVICE_PYTORCH, ADVICE_FRAMEWORKS };
struct advice_how {
	const char *name;
	const char *ways[ADVICE_FRAMEWORKS];
};
const struct advice_how *advice_how(enum advice_kind kind);
const char *advice_framework_name(int framework); /* "ONNX Runtime" */
/* Of item i; NULL if an item before it is of the same kind. */
const struct advice_how *advice_how_once(const struct advice_list *l, int i);
/* Why a list without a target is empty, in words. */
const char *advice_none(const struct advice_list *l);
/* What the model takes now: the bound of the start, or a real execution that is faster. */
double advice_now_ns(const struct advice_list *l);
/* How many times as fast all advice makes that: "at least 1.95x", by the lower end of what it saves; or that
 * this is unclear. Returns buf. */
char *advice_factor(const struct advice_list *l, char *buf, size_t size);
/* "~1.2 ms is fixed in 3 layers: smaller types do not help them", in arena a; NULL: no layers. */
const char *advice_overhead(const struct advice_list *l, struct arena *a);

const char *advice_lack_text(enum advice_lack lack); /* "not measured" */
/* What is left out for that lack: "not measured: fusion (53 problems), bf16 (54)", in arena a; or NULL. */
const char *advice_left_out(const struct advice_list *l, enum advice_lack lack, struct arena *a);
/* How it is measured: "with the same options: bench -w layout,fusion; bench -t bf16", in arena a; NULL:
 * nothing is left out, or it cannot be measured. */
const char *advice_bench(const struct advice_list *l, enum advice_lack lack, struct arena *a);

/* What advice shall reach. */
struct advice_target {
	double ns;          /* latency of a batch; NaN: none is asked for */
	double items_per_s; /* the throughput it is from; NaN: a latency was given */
};
/* Reads "5ms", "300us", "1.2s": a latency; or "200/s": that of one batch at this throughput. */
int advice_target_parse(const char *text, int64_t batch, struct advice_target *to, struct error *err);

/* The scenario of a program that nothing has optimized: no what-if is on, and each layer runs the library's
 * first choice; launches are isolated if that bound is complete. */
struct scenario session_unoptimized(struct session *s);
struct scenario session_unoptimized_of(const struct variant_ground *g); /* of a variant */
/* advice_find for the current plan, and for f32, f16 and bf16 where that has more bits or several types. */
struct advice_list session_advice(
	struct session *s, struct arena *a, const struct scenario *start, double target_ns);
/* The same for a variant; without what only the session's own device can tell: a type that it lacks, real
 * executions. */
struct advice_list session_advice_of(struct session *s, struct arena *a, const struct variant *v,
	const struct scenario *start, double target_ns);
/* The same for the current plan only, from the session's scenario on. Changes nothing in the session. */
struct advice_list session_advice_here(struct session *s, struct arena *a);
/* The same in slices, beside other work, also for f16 and bf16 unless the model is large: begin (replaces a
 * search that is running), step until it returns false, then take the list. A search works on the results of
 * its beginning. It is cancelled when the plan or the device changes, or the session closes. target_ns: only
 * what reaches it; NaN: all. Nothing is measured yet: begin returns false. */
bool session_advice_begin(struct session *s, double target_ns);
/* Goes on for about `ms`. Returns true while there is more to do. */
bool session_advice_step(struct session *s, int ms);
/* True if a search, for any scenario, was begun and neither taken nor cancelled. */
bool session_advice_is_begun(const struct session *s);
/* True if a search for the session's scenario runs, or has ended and was not taken. */
bool session_advice_runs(const struct session *s);
/* Hands over the list of a search that has ended, in arena a. False: none has. */
bool session_advice_take(struct session *s, struct arena *a, struct advice_list *list);
void session_advice_cancel(struct session *s);

#endif
