/* Files that lie where the program does: its build directory, or wherever its installation was moved to. */
#ifndef BASE_BESIDE_H
#define BASE_BESIDE_H

#include "base/arena.h"

/* The path of `file` ("../share/x") seen from the directory of the running program; NULL when that is unknown or no such
 * file can be used as `mode` (R_OK, X_OK) says. */
const char *beside_program(struct arena *a, const char *file, int mode);

/* The path of a file or folder of data/ ("models/resnet50.onnx", "devices", "recorded"): in $BENANZA_DATA where that is set,
 * else beside the program in its source tree, or where the program was installed. NULL: there is none. */
const char *beside_data(struct arena *a, const char *file);

#endif
