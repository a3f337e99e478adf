/* Small kernels that say how fast the GPU and its timers run, load it, or hold its stream. */
#include "runner/kernels/cuda_device.cuh"

#define HEAT_THREADS 512
#define HEAT_STEPS 256     /* multiply-adds of a thread between two readings of the timer */
#define HOLD_MOST_NS 1000000000

static __global__ void span_begin_kernel(struct cuda_span *s)
{
	s->sm = device_sm();
	s->ended = 0;
	s->count.cycles = 0;
	s->count.ns = 0;
	s->began_ns = device_timer_ns();
	s->began_cycles = device_clock();
}

cudaError_t cuda_span_begin(struct cuda_span *span, cudaStream_t s)
{
	return LAUNCH(span_begin_kernel, 1, 1, s, span);
}

/* Cycle counters of different SMs cannot be compared: only a block on the SM that began ends the span. */
static __global__ void span_end_kernel(struct cuda_span *s, uint64_t least_ns)
{
	if (device_sm() != s->sm || !device_claim(&s->ended))
		return;
	uint64_t now = device_timer_ns();
	while (now - s->began_ns < least_ns)
		now = device_timer_ns();
	s->count.cycles = device_clock() - s->began_cycles;
	s->count.ns = now - s->began_ns;
}

cudaError_t cuda_span_end(struct cuda_span *span, double least_ns, int multiprocessors, cudaStream_t s)
{
	/* one-thread blocks spread over all SMs; twice as many, in case some SM gets two */
	int64_t grid = multiprocessors > 0 ? 2 * (int64_t)multiprocessors : 1;
	return LAUNCH(span_end_kernel, grid, 1, s, span, least_ns > 0 ? (uint64_t)least_ns : 0);
}

static __global__ void spin_kernel(struct cuda_count *count, uint64_t ns, uint64_t cycles)
{
	uint64_t began = device_timer_ns(), clock = device_clock(), now = began, last = began, tick = 0;
	while (now - began < ns || device_clock() - clock < cycles) {
		now = device_timer_ns();
		if (now != last && (!tick || now - last < tick))
			tick = now - last;
		last = now;
	}
	count->cycles = device_clock() - clock;
	count->ns = device_timer_ns() - began;
	count->tick_ns = tick;
}

cudaError_t cuda_spin(struct cuda_count *count, double ns, double cycles, cudaStream_t s)
{
	return LAUNCH(spin_kernel, 1, 1, s, count, ns > 0 ? (uint64_t)ns : 0,
		cycles > 0 ? (uint64_t)cycles : 0);
}

/* Four independent chains keep the multiply-add units busy. The map x*x - 1.9 is chaotic and stays between
 * -1.9 and 1.9: operands change in all bits, as those of real data, and draw as much power. */
#define HEAT_STEP(x) ((x) = fmaf((x), (x), -1.9f))
static __global__ void heat_kernel(struct cuda_count *count, uint64_t ns)
{
	uint64_t began = device_timer_ns(), clock = device_clock(), now = began;
	float a = 1e-3f * (float)threadIdx.x, b = a + 0.1f, c = a + 0.2f, d = a + 0.3f;
	while (now - began < ns) {
		for (int i = 0; i < HEAT_STEPS; i += 4) {
			HEAT_STEP(a);
			HEAT_STEP(b);
			HEAT_STEP(c);
			HEAT_STEP(d);
		}
		now = device_timer_ns();
	}
	/* the sum is never so large, which the compiler does not know: the loop must be executed */
	if ((blockIdx.x == 0 && threadIdx.x == 0) || a + b + c + d > 100) {
		count->cycles = device_clock() - clock;
		count->ns = now - began;
		count->tick_ns = 0;
	}
}

cudaError_t cuda_heat(struct cuda_count *count, double ns, int multiprocessors, cudaStream_t s)
{
	int64_t grid = multiprocessors > 0 ? 2 * (int64_t)multiprocessors : 1;
	return LAUNCH(heat_kernel, grid, HEAT_THREADS, s, count, ns > 0 ? (uint64_t)ns : 0);
}

static __global__ void nothing_kernel(void) {}

cudaError_t cuda_nothing(cudaStream_t s)
{
	return LAUNCH(nothing_kernel, 1, 1, s);
}

static __global__ void block_kernel(const volatile int *flag, uint64_t most_ns)
{
	uint64_t began = device_timer_ns();
	while (!*flag && device_timer_ns() - began < most_ns)
		device_nap();
}

cudaError_t cuda_block(const volatile int *flag, cudaStream_t s)
{
	return LAUNCH(block_kernel, 1, 1, s, flag, (uint64_t)HOLD_MOST_NS);
}
