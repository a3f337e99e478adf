/* Two processes never measure one GPU at the same time: a lock on a file that is named by the GPU's UUID, in a folder that
 * all users share. The kernel gives it up when its holder dies. Listing and planning need none. */
#ifndef RUNNER_CUDA_LOCK_H
#define RUNNER_CUDA_LOCK_H

#include "base/error.h"

/* Shared by all users of a machine; $XDG_RUNTIME_DIR is one user's, /run/lock is missing in many containers.
 * BENANZA_LOCK_DIR names another, which containers may share. */
#define CUDA_LOCK_FOLDER "/tmp"

struct cuda_lock {
	int fd;       /* -1 closed */
	int holders;  /* takes not yet given back, of this process */
};
#define CUDA_LOCK_CLOSED { .fd = -1 }

/* Opens the file, and makes it where it is missing. -1: err says what stands in its place. */
int cuda_lock_open(struct cuda_lock *l, const char *folder, const char *uuid, struct error *err);
/* Waits until no other process holds it, with one log line if that takes a while. Counts: as many gives as takes. On a
 * closed lock nothing happens. */
int cuda_lock_take(struct cuda_lock *l, struct error *err);
void cuda_lock_give(struct cuda_lock *l);
void cuda_lock_close(struct cuda_lock *l);

#endif
