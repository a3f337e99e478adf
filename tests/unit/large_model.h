/* A model of any size for the explorer: chains of CHAIN layers, each chain with its own sizes, so that there
 * are many distinct problems; as a file in memory, and a session that has opened it. */
#ifndef LARGE_MODEL_H
#define LARGE_MODEL_H

#include "onnx_bytes.h"

#include "session/session_private.h"
#include "session/session_reality.h"

#include <sys/mman.h>

#define CHAIN 10 /* layers of a chain */

/* The file's descriptor, to be opened as /proc/self/fd/N. */
static int large_file(int layers)
{
	struct str graph = { 0 };
	char in[24], out[24], dims[48], name[32];
	put_text(&graph, 2, "bench");
	for (int i = 0; i < layers; i++) {
		snprintf(in, sizeof(in), i % CHAIN ? "v%d" : "in%d", i % CHAIN ? i : i / CHAIN);
		snprintf(out, sizeof(out), "v%d", i + 1);
		snprintf(dims, sizeof(dims), "1,%d,56,56", 1 + i / CHAIN);
		snprintf(name, sizeof(name), "block%d/layer%d", i / CHAIN, i);
		if (i % CHAIN == 0)
			put_value(&graph, 11, in, 1, dims);
		bool two = i % CHAIN > 1;
		put_node(&graph, name, two && i % 3 == 0 ? "Add" : i % 3 ? "Relu" : "Sigmoid", in,
			two && i % 3 == 0 ? in : "", out, NULL);
		if (i % CHAIN == CHAIN - 1)
			put_value(&graph, 12, out, 1, NULL);
	}
	struct str bytes = put_model(&graph, 8, 17);
	int fd = memfd_create("bench", 0);
	if (fd < 0 || write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n) {
		perror("memfd_create");
		exit(1);
	}
	str_free(&bytes);
	return fd;
}

/* The model's first plan is selected; there is no database, and no device. */
static struct session *large_open(struct config *config, const char *path)
{
	struct error err = ERROR_NONE;
	struct session_options o = { .model_path = path, .db = SESSION_DB_READ };
	char empty[64];
	snprintf(empty, sizeof(empty), "/proc/self/fd/%d", memfd_create("config", 0));
	bool bad = config_load(config, empty, &err) != 0;
	config->db = "/nonexistent/benanza.db";
	struct session *s = bad ? NULL : session_open(config, &o, &err);
	if (!s || session_select(s, 0, DTYPE_F32, &err)) {
		fprintf(stderr, "%s: %s\n", path, err.text);
		exit(1);
	}
	return s;
}

/* Takes a run of the model in which each layer took `layer_ns`. */
__attribute__((unused)) static void large_run(struct session *s, double layer_ns)
{
	const struct plan *p = s->current->plan;
	struct arena a = { 0 };
	struct execution e = execution_new();
	double ns = layer_ns * p->layer_count;
	int capacity = 0;
	e.source = "agent";
	e.framework = "onnxruntime";
	e.device = s->seat->device.model;
	e.threads = s->seat->device.threads;
	e.dtype = "f32";
	e.model_hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	e.stats = (struct sample_stats){ .n = 9, .executions = 1, .min = ns, .q1 = ns, .median = ns, .q3 = ns,
		.mean = ns, .lo = ns, .hi = ns, .stop = STOP_CONVERGED };
	e.measured_at = 1800000000;
	for (int i = 0; i < p->layer_count; i++) {
		struct execution_row *row = execution_add(&a, &e, &capacity);
		row->name = row->nodes = arena_strndup(&a, p->layers[i].name.p, p->layers[i].name.n);
		row->op = arena_strndup(&a, p->layers[i].node->op.p, p->layers[i].node->op.n);
		row->ns = row->lo_ns = row->hi_ns = layer_ns;
	}
	session_reality_take(s, &e);
	arena_free(&a);
}

#endif
