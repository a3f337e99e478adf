/* Fakes of NVML and CUPTI, which are opened at run time and found in the test program itself. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

/* Reports an executed kernel; CUPTI records its name while tracing. */
void fake_driver_ran(const char *name, double ns);

#endif
