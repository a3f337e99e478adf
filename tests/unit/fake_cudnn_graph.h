/* A fake of cuDNN's backend descriptors on host memory: stores the attributes, refuses what cuDNN would
 * refuse (missing attributes, shapes that do not fit), and executes an operation graph in double, slowly. */
#ifndef FAKE_CUDNN_GRAPH_H
#define FAKE_CUDNN_GRAPH_H

#include <cudnn.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_ATTRIBUTES 24

struct fake_attribute {
	cudnnBackendAttributeName_t name;
	cudnnBackendAttributeType_t type;
	int64_t count;
	void *bytes;
};

struct fake_node {                        /* a descriptor */
	cudnnBackendDescriptorType_t kind;
	bool finalized;
	int attribute_count;
	struct fake_attribute attribute[FAKE_ATTRIBUTES];
	struct fake_node *graph;          /* of an engine configuration or engine */
	cudnnBackendHeurMode_t mode;      /* heuristics mode that returned an engine configuration */
};

extern struct fake_cudnn_graph {
	int created, destroyed;           /* descriptors */
	int executed, packs;              /* executions; variant packs finalized */
	int compiled, loaded;             /* plans finalized from a configuration, and from a text */
	cudnnStatus_t load_status;        /* result of finalizing a plan from a text */
	cudnnStatus_t plan_status;        /* result of finalizing the next plans; 0: success */
	cudnnStatus_t execute_status;
	cudnnBackendHeurMode_t silent;    /* heuristics mode without results; CUDNN_HEUR_MODES_COUNT: none */
	bool channels_last;               /* convolutions have engines only with channels innermost */
	int engines;                      /* 0: it does not tell how many a graph has. Only the engines 0
					     and 12 take a graph; 0 has no knobs */
	int configs;                      /* engine configurations that were asked for */
	bool signed_only;                 /* products have engines only for s8 sources and weights */
	bool needs_bias;                  /* convolutions have engines alone or with a bias, else none */
	uint32_t numerical, behaviour;    /* notes of the engine */
	cudaStream_t stream;              /* of the handle */
	char why[256];                    /* result of cudnnGetLastErrorString; first line of a refusal */
} fake_cudnn_graph;

/* Returns NULL if the attribute is not set. */
const struct fake_attribute *fake_attribute(const struct fake_node *n, cudnnBackendAttributeName_t name);
/* Aborts if the attribute is not set, which is a bug of a builder. */
const void *fake_values(const struct fake_node *n, cudnnBackendAttributeName_t name);
int64_t fake_int64(const struct fake_node *n, cudnnBackendAttributeName_t name, int64_t index);
struct fake_node *fake_link(const struct fake_node *n, cudnnBackendAttributeName_t name);

/* Executes a graph on the pack's memory. Returns false and sets fake_cudnn_graph.why if shapes do not fit. */
bool fake_graph_execute(const struct fake_node *graph, const struct fake_node *pack);

#endif
