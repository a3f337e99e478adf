/* The table of terms, and the same as a section of a man page. */
#include "config.h"

#include "session/glossary.h"

#include "session/state.h"

#include <string.h>

static const struct glossary_row rows[] = {
	{ "agent",
		"A program that runs a whole model with a framework (ONNX Runtime, OpenVINO ...): built in, "
		"or a command of the configuration that speaks the agents' protocol." },
	{ "algorithm", "One of the implementations that a library offers for a problem." },
	{ "amortized",
		"Launch mode: executions run back to back and the time is divided by their number, so the "
		"cost of a launch is spread over them. See isolated." },
	{ "arithmetic intensity",
		"FLOPs per byte of compulsory memory traffic. Below the device's ratio of peak FLOP/s to "
		"bandwidth a "
		"layer is memory-bound, above it compute-bound." },
	{ "Benanza ratio",
		"Bound / real latency: the share of the time that the fastest algorithms would need. Above 1 "
		"the execution is faster than the bound." },
	{ "bound",
		"Lower bound of the model's latency: the sum of its layers' costs (sequential), or the "
		"longer of the longest path and the time of the busiest resource (parallel). \"At least\" "
		"marks a bound in which layers are missing." },
	{ "bound by",
		"What limits a layer under the roofline model: compute, memory (device memory or a cache), "
		"or overhead (it would take about as long without any work). A smaller data type does not "
		"help a layer that is bound by overhead. A Winograd convolution counts with its own, fewer "
		"multiplications (~) if the name states the tile (wino_4x3); else its limit is unknown." },
	{ "choice",
		"The algorithm's rank in the library's order: choice 1 is the algorithm that the library "
		"would run (preferred)." },
	{ "class",
		"The kind of work of a layer: compute, memory, move (data movement), free, host, unknown." },
	{ "cold", "Cache state: all operands come from memory." },
	{ "contradicted",
		"A layer or a whole model that a real execution runs faster than the bound: the intervals "
		"do not overlap, data type and cache state are equal, and measuring both in turn repeats "
		"it. Then "
		"an algorithm is missing from the measurements, or one of the two times is wrong." },
	{ "coverage",
		"The number of measured layers of the bound, and the source of the costs of the others." },
	{ "critical path",
		"The longest path through the graph. Only faster layers on this path shorten the parallel "
		"bound, unless a resource limits it." },
	{ "distinct",
		"Layers with the same problem share one measurement; a distinct problem counts once, "
		"whatever the number of its layers." },
	{ "estimate",
		"Used instead of a measurement on a device that is only described: the roofline, divided by "
		"the share of the peaks that real kernels of that kind reach. Marked ~." },
	{ "execution",
		"A real run of the whole model by a framework: its latency, and the times of its layers. "
		"An agent runs it, or a framework's profile describes it." },
	{ "fused",
		"A layer that runs inside the kernel of another one. The kernel's cost is in its first "
		"layer." },
	{ "ideal", "The layer's time at its limiting peak: its roofline." },
	{ "in place",
		"The algorithm writes its result over its input, so that fewer bytes pass through the "
		"caches. Used only if nothing reads the input later." },
	{ "interval",
		"95% confidence interval of the cost; the range of 2 to 5 samples; unknown for one sample." },
	{ "isolated", "Launch mode: each execution is timed by itself. A GPU's times do not contain the "
		"host's time to enqueue it. See amortized." },
	{ "left out",
		"Samples that the statistics exclude, because other work disturbed them." },
	{ "mtx",
		"Whether the algorithm uses matrix units (AMX, tensor cores): yes, no, or ? if the library "
		"does not report it." },
	{ "n", "Number of samples in the statistics." },
	{ "net",
		"Cache state: activations are in the cache as the previous layer left them, weights come "
		"from memory. The bound uses it if the model's reuse distance (line caches) is beyond the "
		"last-level cache." },
	{ "noisy",
		"Measured while other work disturbed the machine. `benanza bench --shaky` measures it "
		"again." },
	{ "peak",
		"The highest bandwidth or FLOP/s of the device, measured by copies and large matmuls, or "
		"from the vendor's figures." },
	{ "preferred", "The library's first choice of algorithm, as opposed to the fastest one measured." },
	{ "problem",
		"The kernel call that is measured for a layer: kernel, data types, shape and attributes"
		" as one line of text." },
	{ "proxy", "A stand-in that was measured instead, such as a copy of the same size. Marked ~." },
	{ "real",
		"The measured latency of the newest execution in the database with the same model, shapes, "
		"data type, device and threads as the bound." },
	{ "roofline",
		"The shortest time that the device's peaks allow: the longer of FLOPs / peak FLOP/s and "
		"bytes / bandwidth." },
	{ "rough",
		"From a quick measurement: the library's first choice of algorithm and three samples, not "
		"checked. A rough bound is an upper estimate of the final one." },
	{ "runner",
		"The program that measures problems on a device: benanza-runner-cpu, benanza-runner-cuda, "
		"or a command that speaks their protocol." },
	{ "saves",
		"Bound with the what-if off minus bound with it on. Unknown while either bound "
		"lacks a measurement." },
	{ "scenario", "Batch, data type and the what-ifs that are on." },
	{ "share", "The layer's cost as a part of the sequential bound." },
	{ "side by side",
		"Branches of a model that run at the same time, each on a share of the cores or in its own "
		"stream: measured as one problem (-w parallel=measured), until the last branch "
		"ends." },
	{ "slack", "The time by which a layer could be slower without lengthening the parallel bound." },
	{ "suspect",
		"A result that is probably wrong: the output failed its check, or the time is below what "
		"the measured peaks allow. Marked !." },
	{ "trust",
		"How far to trust the bound: good, fair, low, estimate, partial or unknown, from the shares "
		"of its time that are noisy, suspect, by proxy or estimated, its interval, and real "
		"executions that contradict it." },
	{ "warm", "Cache state: all operands are in the cache as the previous execution left them." },
	{ "what-if",
		"An optimization that you switch on or off to see its effect on the bound: fusion, matrix "
		"units, parallel layers ..." },
};
#define ROW_COUNT ((int)(sizeof(rows) / sizeof(rows[0])))

const struct glossary_row *glossary_table(int *count)
{
	*count = ROW_COUNT;
	return rows;
}

/* Escapes text for man(7): hyphens become \-. */
static void man_add(struct str *out, const char *text)
{
	for (; *text; text++)
		if (*text == '-')
			str_puts(out, "\\-");
		else
			str_add(out, text, 1);
}

static void man_row(struct str *out, const char *term, const char *text, const char *end)
{
	str_puts(out, ".TP\n.B \"");
	man_add(out, term);
	str_puts(out, "\"\n");
	man_add(out, text);
	str_puts(out, end);
}

void glossary_man(struct str *out)
{
	for (int i = 0; i < ROW_COUNT; i++)
		man_row(out, rows[i].term, rows[i].text, "\n");
	str_puts(out, ".SS States\nWords of the column\n.IR state .\n");
	for (int i = STATE_NONE + 1; i < STATE_COUNT; i++) {
		const struct state_row *r = state_row((enum state)i);
		man_row(out, r->word, r->text, "");
		if (*r->stored && strcmp(r->stored, r->word) != 0) {
			str_puts(out, " (in JSON: ");
			man_add(out, r->stored);
			str_puts(out, ")");
		}
		str_puts(out, ".\n");
	}
}
