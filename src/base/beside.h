/* Files that lie where the program does: its build directory, or wherever its installation was moved to. */
#ifndef BASE_BESIDE_H
#define BASE_BESIDE_H

#include "base/arena.h"

/* The path of `file` ("../share/x") seen from the directory of the running program; NULL when that is unknown or no such
 * file can be used as `mode` (R_OK, X_OK) says. */
const char *beside_program(struct arena *a, const char *file, int mode);

#endif
