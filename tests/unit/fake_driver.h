/* The fake's NVML and CUPTI: libraries that are opened at run time, found in the test program itself. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

/* A kernel ran: CUPTI, while it traces, keeps its name. */
void fake_driver_ran(const char *name, double ns);

#endif
