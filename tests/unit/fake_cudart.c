#include "config.h"

#include "fake_cudart.h"

#include <cuda.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/measure/clock.h"
#include "runner/kernels/cuda_kernels.h"

#include "fake_driver.h"

struct fake fake;

/* --- the stream --- */

enum op_kind { OP_KERNEL, OP_COPY, OP_SET, OP_EVENT, OP_HOLD, OP_PAUSE, OP_WAIT };

struct op {
	enum op_kind kind;
	fake_kernel *kernel;
	void *arguments;
	size_t size;
	double ns, enqueued_ns;
	char name[128];
	void *to;
	const void *from;
	int byte;
	cudaEvent_t event;
	const volatile int *flag;
	int branch;            /* its stream: 0 the first one, whose queue has the work of all */
};

struct ops {
	struct op *op;
	int count, capacity;
};

struct CUstream_st {
	struct ops queue;
	struct ops captured;
	bool capturing, invalid;
	int branch;            /* 0: the first stream */
	bool forked;           /* it waited for the first stream, which has not waited for it yet */
};

struct CUevent_st {
	double ns;
	bool recorded;
	cudaStream_t of;       /* where it was recorded last */
};

struct CUgraph_st {
	struct ops ops;
};

struct CUgraphExec_st {
	struct ops ops;
	bool uploaded;
};

static cudaError_t last, sticky, passing;

static cudaError_t fail(cudaError_t c)
{
	last = c;
	return c;
}

static cudaError_t called(void)
{
	fake.host_ns += FAKE_CALL_NS;
	return sticky ? fail(sticky) : cudaSuccess;
}

static void ops_free(struct ops *o)
{
	for (int i = 0; i < o->count; i++)
		free(o->op[i].arguments);
	free(o->op);
	*o = (struct ops){ 0 };
}

static void ops_add(struct ops *o, const struct op *op)
{
	VEC_GROW(o->op, o->count, o->capacity);
	o->op[o->count] = *op;
	o->op[o->count].arguments = base_malloc(op->size ? op->size : 1);
	if (op->size)
		memcpy(o->op[o->count].arguments, op->arguments, op->size);
	o->count++;
}

/* --- the GPU's clock --- */

static double cycles, ramp_left;

/* Passes time in which the GPU does nothing. */
static void idle_until(double ns)
{
	if (!(ns > fake.device_ns))
		return;
	if (fake.idle_mhz > 0 && ns - fake.device_ns >= fake.pause_ns)
		ramp_left = fake.ramp_ns;
	fake.device_ns = ns;
}

/* Passes the time of a kernel that takes `ns` at `mhz`: more, if it takes cycles and the clock is down. */
static void work(double ns, double mhz, bool takes_cycles)
{
	while (ns > 0) {
		bool low = ramp_left > 0;
		double now_mhz = low && fake.idle_mhz < mhz ? fake.idle_mhz : mhz;
		double factor = takes_cycles ? mhz / now_mhz : 1, step = ns * factor;
		step = low && ramp_left < step ? ramp_left : step;
		ramp_left -= low ? step : 0;
		cycles += step * now_mhz / 1e3 * fake.cycle_scale;
		fake.device_ns += step;
		ns = ns - step / factor < 1e-3 ? 0 : ns - step / factor;
	}
}

static double timer_ns(void)
{
	double ns = fake.device_ns * fake.timer_scale;
	return fake.timer_tick_ns > 0 ? floor(ns / fake.timer_tick_ns) * fake.timer_tick_ns : ns;
}

static void op_run(struct op *op)
{
	if (sticky)
		return;
	idle_until(op->enqueued_ns);
	switch (op->kind) {
	case OP_KERNEL:
		fake.kernels_run++;
		if (fake.fault_at && --fake.fault_at == 0) {
			*(fake.fault_passes ? &passing : &sticky) =
				fake.fault ? fake.fault : cudaErrorIllegalAddress;
			return;
		}
		op->kernel(op->arguments);
		fake_driver_ran(op->name, fake.device_ns);
		break;
	case OP_COPY: memmove(op->to, op->from, op->size); break;
	case OP_SET:
		memset(op->to, op->byte, op->size);
		fake.flushes += op->size == 2 * FAKE_L2;
		break;
	case OP_WAIT:
	case OP_PAUSE: break;
	case OP_EVENT:
		op->event->ns = fake.device_ns;
		op->event->recorded = true;
		break;
	case OP_HOLD:
		if (*op->flag == 0) {
			fake.device_ns += 1e9;
			fake.blocks_given_up++;
		} else if (fake.host_ns > fake.device_ns) {
			idle_until(fake.host_ns);
		}
		break;
	}
	if (op->kind == OP_KERNEL)
		work(op->ns, fake.own_mhz > 0 ? fake.own_mhz : fake.clock_mhz, true);
	else
		fake.device_ns += op->ns;
}

#define BRANCHES 16
static double branch_ns[BRANCHES];
static cudaStream_t only_stream;

/* Work of another stream runs beside that of the first one. */
static void op_run_at(struct op *op)
{
	double first_ns = fake.device_ns;
	if (op->branch)
		fake.device_ns = branch_ns[op->branch];
	if (op->kind == OP_WAIT)
		fake.device_ns = fmax(fake.device_ns, op->event->ns);
	else
		op_run(op);
	branch_ns[op->branch] = fake.device_ns;
	if (op->branch)
		fake.device_ns = first_ns;
}

static void drain(cudaStream_t s)
{
	if (s->branch && only_stream)
		s = only_stream;
	for (int i = 0; i < s->queue.count; i++)
		op_run_at(&s->queue.op[i]);
	ops_free(&s->queue);
	if (fake.device_ns > fake.host_ns)
		fake.host_ns = fake.device_ns;
}

static cudaError_t enqueue(cudaStream_t s, const struct op *op)
{
	cudaError_t c = called();
	if (c)
		return c;
	struct op stamped = *op;
	if (s->branch) {
		fake.strays += !s->forked;
		stamped.branch = s->branch;
		s = only_stream;
	}
	if (fake.queue_most && !s->capturing && s->queue.count >= fake.queue_most)
		drain(s);
	stamped.enqueued_ns = s->capturing ? 0 : fake.host_ns;
	/* only a kernel has arguments; of a copy or memset `size` is the size of the memory */
	if (stamped.kind != OP_KERNEL) {
		size_t size = stamped.size;
		stamped.size = 0;
		ops_add(s->capturing ? &s->captured : &s->queue, &stamped);
		struct ops *o = s->capturing ? &s->captured : &s->queue;
		o->op[o->count - 1].size = size;
	} else {
		ops_add(s->capturing ? &s->captured : &s->queue, &stamped);
	}
	if (fake.launches_wait && !s->capturing && stamped.kind != OP_EVENT)
		drain(s);
	return cudaSuccess;
}

/* Waits for the stream if the code of this kernel is not loaded yet. */
static struct {
	char name[64][32];
	int count;
} loaded;

static void load(const char *name, cudaStream_t s)
{
	bool known = !fake.loads_lazily || s->capturing || loaded.count == 64;
	for (int i = 0; i < loaded.count; i++)
		known = known || strncmp(loaded.name[i], name, 31) == 0;
	if (known)
		return;
	strncpy(loaded.name[loaded.count++], name, 31);
	drain(s);
}

cudaError_t fake_launch(fake_kernel *kernel, const void *arguments, size_t size, double ns, const char *name,
	cudaStream_t s)
{
	struct op op = { .kind = OP_KERNEL, .kernel = kernel, .size = size, .ns = ns };
	op.arguments = base_malloc(size ? size : 1);
	if (size)
		memcpy(op.arguments, arguments, size);
	strncpy(op.name, name, sizeof(op.name) - 1);
	load(name, s);
	cudaError_t c = enqueue(s, &op);
	free(op.arguments);
	return c;
}

/* Calls that are not allowed during capture invalidate it. */
static cudaError_t forbidden_in_capture(void)
{
	cudaError_t c = called();
	if (!c && only_stream && only_stream->capturing) {
		only_stream->invalid = true;
		return fail(cudaErrorStreamCaptureUnsupported);
	}
	return c;
}

void fake_host_work(double ns)
{
	double end = fake.host_ns + ns;
	if (only_stream)
		drain(only_stream);
	fake.host_ns = end;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
	(void)flags;
	*s = base_calloc(1, sizeof(**s));
	if (only_stream)
		(*s)->branch = fake.streams_alive % BRANCHES;
	else
		only_stream = *s;
	fake.streams_alive++;
	return called();
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
	drain(s);
	ops_free(&s->captured);
	only_stream = s == only_stream ? NULL : only_stream;
	free(s);
	fake.streams_alive--;
	return called();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
	(void)flags;
	if (s->branch && e->of == only_stream)
		s->forked = true;
	fake.forks += s->branch && e->of == only_stream;
	cudaError_t c = enqueue(s, &(struct op){ .kind = OP_WAIT, .event = e });
	if (!s->branch && e->of && e->of->branch)
		e->of->forked = false;
	return c;
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
	cudaError_t c = forbidden_in_capture();
	if (c)
		return c;
	drain(s);
	c = passing ? passing : sticky;
	passing = cudaSuccess;
	return c ? fail(c) : cudaSuccess;
}

/* Neither waits nor counts as a call: the clock of the tests stays. */
cudaError_t cudaStreamQuery(cudaStream_t s)
{
	if (s->capturing) {
		s->invalid = true;
		return fail(cudaErrorStreamCaptureUnsupported);
	}
	return sticky ? fail(sticky) : s->queue.count ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status)
{
	*status = !s->capturing ? cudaStreamCaptureStatusNone :
		s->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
	return sticky ? fail(sticky) : cudaSuccess;
}

/* --- graphs --- */

cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode)
{
	(void)mode;
	s->capturing = true;
	s->invalid = false;
	fake.captures++;
	return called();
}

cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *graph)
{
	*graph = NULL;
	if (!s->capturing)
		return fail(cudaErrorIllegalState);
	s->capturing = false;
	if (s->invalid || fake.capture_fails) {
		ops_free(&s->captured);
		return fail(cudaErrorStreamCaptureInvalidated);
	}
	*graph = base_calloc(1, sizeof(**graph));
	(*graph)->ops = s->captured;
	s->captured = (struct ops){ 0 };
	fake.graphs_alive++;
	return called();
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
	for (int i = 0; nodes && i < graph->ops.count; i++)
		nodes[i] = (cudaGraphNode_t)&graph->ops.op[i];
	*count = (size_t)graph->ops.count;
	return called();
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
	enum op_kind kind = ((const struct op *)node)->kind;
	*type = kind == OP_KERNEL ? cudaGraphNodeTypeKernel : kind == OP_SET ? cudaGraphNodeTypeMemset :
		cudaGraphNodeTypeMemcpy;
	return called();
}

/* Returns a CUfunction, or a CUkernel for kernels named "second...", since libraries launch both kinds. */
static CUresult driver_node(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
	const struct op *op = (const struct op *)node;
	*p = (CUDA_KERNEL_NODE_PARAMS_v2){ .gridDimX = 1 };
	if (strncmp(op->name, "second", 6) == 0)
		p->kern = (CUkernel)(uintptr_t)op->name;
	else
		p->func = (CUfunction)(uintptr_t)op->name;
	return CUDA_SUCCESS;
}

static CUresult driver_function_name(const char **name, CUfunction f)
{
	*name = (const char *)f;
	return CUDA_SUCCESS;
}

static CUresult driver_kernel_name(const char **name, CUkernel k)
{
	*name = (const char *)k;
	return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **to, unsigned version,
	unsigned long long flags, enum cudaDriverEntryPointQueryResult *found)
{
	typedef void any_function(void);
	any_function *f = strcmp(name, "cuGraphKernelNodeGetParams") == 0 ? (any_function *)driver_node :
		strcmp(name, "cuFuncGetName") == 0 ? (any_function *)driver_function_name :
		strcmp(name, "cuKernelGetName") == 0 ? (any_function *)driver_kernel_name : NULL;
	bool is_launch = strcmp(name, "cuLaunchKernel") == 0;
	(void)flags;
	*to = NULL;
	*found = cudaDriverEntryPointSymbolNotFound;
	f = is_launch ? fake.driver_launch : f;
	if (f && version <= (unsigned)fake.driver_version && (fake.names_kernels || is_launch)) {
		memcpy(to, &f, sizeof(*to));
		*found = cudaDriverEntryPointSuccess;
	}
	return called();
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	(void)flags;
	if (fake.instantiate_fails)
		return fail(cudaErrorMemoryAllocation);
	*exec = base_calloc(1, sizeof(**exec));
	for (int i = 0; i < graph->ops.count; i++)
		ops_add(&(*exec)->ops, &graph->ops.op[i]);
	fake.execs_alive++;
	return called();
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t s)
{
	(void)s;
	exec->uploaded = true;
	return called();
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t s)
{
	if (!exec->uploaded)
		fake.host_ns += 1e6;
	cudaError_t c = called();
	fake.graph_launches++;
	if (fake.graph_ns > 0)
		ops_add(&s->queue,
			&(struct op){ .kind = OP_PAUSE, .ns = fake.graph_ns, .enqueued_ns = fake.host_ns });
	for (int i = 0; i < exec->ops.count && !c; i++) {
		struct op op = exec->ops.op[i];
		op.enqueued_ns = fake.host_ns;
		ops_add(&s->queue, &op);
	}
	if (fake.launches_wait)
		drain(s);
	return c;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	ops_free(&graph->ops);
	free(graph);
	fake.graphs_alive--;
	return called();
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	ops_free(&exec->ops);
	free(exec);
	fake.execs_alive--;
	return called();
}

/* --- events --- */

cudaError_t cudaEventCreate(cudaEvent_t *e)
{
	*e = base_calloc(1, sizeof(**e));
	fake.events_alive++;
	return called();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags)
{
	(void)flags;
	return cudaEventCreate(e);
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
	free(e);
	fake.events_alive--;
	return called();
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
	e->recorded = false;
	e->of = s;
	return enqueue(s, &(struct op){ .kind = OP_EVENT, .event = e, .ns = fake.event_ns });
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
	if (!begin->recorded || !end->recorded)
		return fail(cudaErrorNotReady);
	*ms = (float)((end->ns - begin->ns) * fake.event_scale / 1e6);
	return called();
}

/* --- memory --- */

struct allocation {
	void *p;
	size_t size;
	bool pinned;
};
static struct allocation *allocations;
static int allocation_count, allocation_capacity;

static void *allocate(size_t size, bool pinned)
{
	void *p = aligned_alloc(256, (size + 255) / 256 * 256);
	memset(p, 0x5a, (size + 255) / 256 * 256);
	VEC_GROW(allocations, allocation_count, allocation_capacity);
	allocations[allocation_count++] = (struct allocation){ p, size, pinned };
	return p;
}

static cudaError_t give_back(void *p, bool pinned)
{
	for (int i = 0; i < allocation_count; i++) {
		if (allocations[i].p != p || allocations[i].pinned != pinned)
			continue;
		fake.bytes_alive -= pinned ? 0 : (double)allocations[i].size;
		allocations[i] = allocations[--allocation_count];
		free(p);
		if (allocation_count == 0) {
			free(allocations);
			allocations = NULL;
			allocation_capacity = 0;
		}
		return called();
	}
	return fail(cudaErrorInvalidValue);
}

cudaError_t cudaMalloc(void **p, size_t size)
{
	cudaError_t c = forbidden_in_capture();
	if (c)
		return c;
	bool fails = fake.malloc_fails_at && --fake.malloc_fails_at == 0;
	if (fails || fake.bytes_alive + (double)size > fake.memory_bytes)
		return fail(cudaErrorMemoryAllocation);
	*p = allocate(size, false);
	fake.allocations++;
	fake.allocations_alive++;
	fake.bytes_alive += (double)size;
	fake.bytes_most = fake.bytes_alive > fake.bytes_most ? fake.bytes_alive : fake.bytes_most;
	return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
	fake.allocations_alive--;
	return give_back(p, false);
}

cudaError_t cudaHostAlloc(void **p, size_t size, unsigned flags)
{
	(void)flags;
	if (fake.pinned_fails)
		return fail(cudaErrorMemoryAllocation);
	*p = allocate(size, true);
	fake.pinned_alive++;
	return called();
}

cudaError_t cudaFreeHost(void *p)
{
	fake.pinned_alive--;
	return give_back(p, true);
}

cudaError_t cudaMemGetInfo(size_t *unused, size_t *all)
{
	*all = (size_t)fake.memory_bytes;
	*unused = (size_t)(fake.memory_bytes - fake.bytes_alive);
	return called();
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t s)
{
	(void)kind;
	return enqueue(s, &(struct op){ .kind = OP_COPY, .to = to, .from = from, .size = size, .ns = 100 });
}

cudaError_t cudaMemsetAsync(void *to, int byte, size_t size, cudaStream_t s)
{
	load("memset", s);
	return enqueue(s, &(struct op){ .kind = OP_SET, .to = to, .byte = byte, .size = size, .ns = 100 });
}

/* --- the device --- */

cudaError_t cudaGetDeviceCount(int *count)
{
	*count = fake.count_error ? 0 : fake.device_count;
	return fake.count_error ? fail(fake.count_error) : called();
}

cudaError_t cudaDriverGetVersion(int *version)
{
	*version = fake.driver_version;
	return called();
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	*version = CUDART_VERSION;
	return called();
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int i)
{
	if (i < 0 || i >= fake.device_count)
		return fail(cudaErrorInvalidDevice);
	memset(p, 0, sizeof(*p));
	strncpy(p->name, fake.device[i].name, sizeof(p->name) - 1);
	memset(p->uuid.bytes, fake.device[i].uuid, 16);
	p->major = fake.device[i].major;
	p->minor = fake.device[i].minor;
	p->totalGlobalMem = (size_t)fake.memory_bytes;
	p->l2CacheSize = FAKE_L2;
	p->multiProcessorCount = 132;
	p->pciBusID = 0x10 + i;
	p->ECCEnabled = 1;
	p->memoryBusWidth = 6144;
	return called();
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device)
{
	(void)device;
	*value = which == cudaDevAttrClockRate ? (int)(fake.default_mhz * 1000) : 2619000;
	return called();
}

cudaError_t cudaSetDevice(int i)
{
	fake.flags_set_device = i;
	return fake.set_device_error ? fail(fake.set_device_error) : called();
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	(void)flags;
	return called();
}

/* --- errors --- */

cudaError_t cudaGetLastError(void)
{
	cudaError_t c = last;
	last = sticky;
	return c;
}

const char *cudaGetErrorString(cudaError_t c)
{
	return c == cudaErrorMemoryAllocation ? "out of memory" : c == cudaErrorIllegalAddress ?
		"an illegal memory access was encountered" : "some error";
}

const char *cudaGetErrorName(cudaError_t c)
{
	return c == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" :
		c == cudaErrorUnknown ? "cudaErrorUnknown" : "cudaErrorOther";
}

/* --- our own kernels --- */

struct filling {
	struct cuda_strided t;
	uint64_t seed;
	enum fill_kind kind;
	int64_t limit;
};

static void fill_run(void *arguments)
{
	const struct filling *f = arguments;
	int64_t count = 1;
	for (int i = 0; i < f->t.rank; i++)
		count *= f->t.dim[i];
	for (int64_t i = 0; i < count; i++) {
		int64_t at = 0, rest = i;
		for (int d = f->t.rank - 1; d >= 0; d--) {
			at += rest % f->t.dim[d] * f->t.stride[d];
			rest /= f->t.dim[d];
		}
		double value = fill_value(f->seed, i, f->kind, f->limit, f->t.dtype);
		if (dtype_bits(f->t.dtype) == 4) { /* two to a byte, the first in the low bits */
			unsigned char *both = (unsigned char *)f->t.data + at / 2;
			int low = at % 2 ? *both & 15 : (int)value & 15;
			int high = at % 2 ? (int)value & 15 : *both >> 4;
			*both = (unsigned char)(high << 4 | low);
			continue;
		}
		fill_encode(value, f->t.dtype, (char *)f->t.data + at * dtype_bits(f->t.dtype) / 8);
	}
}

cudaError_t cuda_fill(
	const struct cuda_strided *t, uint64_t seed, enum fill_kind kind, int64_t limit, cudaStream_t s)
{
	struct filling f = { *t, seed, kind, limit };
	return fake_launch(fill_run, &f, sizeof(f), 1000, "fill", s);
}

/* The probes take no time of their own, and run at the clock of a load without much power. */

struct counting {
	void *to;
	double ns, cycles;
	bool heats;
};

static void count_begin(struct cuda_span *s)
{
	s->count = (struct cuda_count){ 0 };
	s->began_ns = (uint64_t)timer_ns();
	s->began_cycles = (uint64_t)cycles;
}

static void count_end(struct cuda_span *s)
{
	s->count.ns = (uint64_t)timer_ns() - s->began_ns;
	s->count.cycles = (uint64_t)cycles - s->began_cycles;
}

/* Passes time until the span is as long by the global timer and by the cycle counter. */
static void count_until(struct cuda_span *s, double ns, double least_cycles)
{
	count_end(s);
	for (double left; (left = ns - (double)s->count.ns) > 0; count_end(s))
		work(left / fake.timer_scale, fake.clock_mhz, false);
	for (double left; (left = least_cycles - (double)s->count.cycles) > 0; count_end(s))
		work((left + 1) / fake.clock_mhz * 1e3 / fake.cycle_scale, fake.clock_mhz, true);
}

static void spin_run(void *arguments)
{
	const struct counting *c = arguments;
	struct cuda_span s;
	double began = fake.device_ns, steady = fake.clock_mhz;
	static int heats;
	if (c->heats)
		fake.clock_mhz *= heats++ % 2 ? 1 + fake.swing : 1 - fake.swing;
	count_begin(&s);
	count_until(&s, c->ns, c->cycles);
	s.count.tick_ns = (uint64_t)(fake.timer_tick_ns > 0 ? fake.timer_tick_ns : 1);
	*(struct cuda_count *)c->to = s.count;
	fake.heated_ns += c->heats ? fake.device_ns - began : 0;
	fake.clock_mhz = steady;
}

static void span_begin_run(void *arguments)
{
	count_begin(((const struct counting *)arguments)->to);
}

static void span_end_run(void *arguments)
{
	const struct counting *c = arguments;
	count_until(c->to, c->ns, 0);
}

static void nothing_run(void *arguments)
{
	(void)arguments;
}

static cudaError_t count_launch(fake_kernel *run, struct counting c, const char *name, cudaStream_t s)
{
	return fake_launch(run, &c, sizeof(c), 0, name, s);
}

cudaError_t cuda_span_begin(struct cuda_span *span, cudaStream_t s)
{
	return count_launch(span_begin_run, (struct counting){ .to = span }, "begin", s);
}

cudaError_t cuda_span_end(struct cuda_span *span, double least_ns, int multiprocessors, cudaStream_t s)
{
	(void)multiprocessors;
	return count_launch(span_end_run, (struct counting){ .to = span, .ns = least_ns }, "end", s);
}

cudaError_t cuda_spin(struct cuda_count *count, double ns, double least_cycles, cudaStream_t s)
{
	return count_launch(spin_run, (struct counting){ .to = count, .ns = ns, .cycles = least_cycles },
		"spin", s);
}

cudaError_t cuda_heat(struct cuda_count *count, double ns, int multiprocessors, cudaStream_t s)
{
	(void)multiprocessors;
	return count_launch(spin_run, (struct counting){ .to = count, .ns = ns, .heats = true }, "heat", s);
}

cudaError_t cuda_nothing(cudaStream_t s)
{
	return fake_launch(nothing_run, NULL, 0, 1000, "nothing", s);
}

cudaError_t cuda_block(const volatile int *flag, cudaStream_t s)
{
	return enqueue(s, &(struct op){ .kind = OP_HOLD, .flag = flag });
}

/* --- the simulated clock --- */

double clock_ns(void)
{
	return fake.host_ns;
}

double clock_elapsed(double begin)
{
	return fake.host_ns - begin;
}

void fake_reset(void)
{
	double now = fake.host_ns + 1e9;
	last = sticky = passing = cudaSuccess;
	ramp_left = 0;
	memset(&loaded, 0, sizeof(loaded));
	fake = (struct fake){ .device_count = 1,
		.driver_version = CUDART_VERSION,
		.memory_bytes = 64e6,
		.clock_mhz = 1900,
		.default_mhz = 1980,
		.pause_ns = 100e6,
		.ramp_ns = 20e6,
		.event_scale = 1,
		.timer_scale = 1,
		.cycle_scale = 1,
		.timer_tick_ns = 32,
		.nvml_mhz = 1900,
		.nvml_reasons = 0x1 | 0x4 | 0x40,
		.has_nvml = true,
		.has_cupti = true,
		.names_kernels = true,
		.host_ns = now,
		.device_ns = now };
	fake.device[0].major = 9;
	fake.device[0].name = "NVIDIA H200";
	fake.device[0].uuid = 0xab;
	fake.device[1].major = 8;
	fake.device[1].minor = 9;
	fake.device[1].name = "NVIDIA L40S";
	fake.device[1].uuid = 0xac;
	fake.device[2].major = 7;
	fake.device[2].name = "Tesla V100";
	fake.device[2].uuid = 0x11;
}
