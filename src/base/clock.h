/* Monotonic clock for time limits, progress and durations. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since an arbitrary moment before the program started. */
int64_t clock_ms(void);

#endif
