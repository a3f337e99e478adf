/* A lock on a file named after the GPU's UUID, in a folder shared by all users: only one process at a time
 * measures on a GPU. The kernel releases it when its holder dies. Listing and planning take no lock. */
#ifndef RUNNER_CUDA_LOCK_H
#define RUNNER_CUDA_LOCK_H

#include <stdbool.h>

#include "base/error.h"

/* $XDG_RUNTIME_DIR belongs to one user, and /run/lock is missing in many containers. $BENANZA_LOCK_DIR
 * overrides it, for containers that share another folder. */
#define CUDA_LOCK_FOLDER "/tmp"

struct cuda_lock {
	int fd;       /* -1: closed */
	int holders;  /* number of nested cuda_lock_take calls of this process */
	bool waits;   /* for another process; any thread may ask: cuda_lock_waits */
};
#define CUDA_LOCK_CLOSED { .fd = -1 }

/* Opens the lock file, creating it if it is missing. Returns -1 and sets err if it cannot be opened or is not
 * a regular file. */
int cuda_lock_open(struct cuda_lock *l, const char *folder, const char *uuid, struct error *err);
/* Takes the lock; logs one line and waits if another process holds it. Takes nest: each needs one give. No
 * effect on a closed lock. */
int cuda_lock_take(struct cuda_lock *l, struct error *err);
/* Takes the lock if no other process holds it, without waiting; false: not taken. */
bool cuda_lock_try(struct cuda_lock *l);
void cuda_lock_give(struct cuda_lock *l);
/* True while cuda_lock_take waits on some thread. */
bool cuda_lock_waits(const struct cuda_lock *l);
void cuda_lock_close(struct cuda_lock *l);

#endif
