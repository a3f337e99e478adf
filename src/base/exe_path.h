/* Paths relative to the running executable: they work in the build directory and in an installation that was
 * moved. */
#ifndef BASE_EXE_PATH_H
#define BASE_EXE_PATH_H

#include "base/arena.h"

/* Path of the source tree from the directory of an executable that is not installed: a link that configure
 * makes in the build directory, which may be outside the tree. */
#define EXE_SOURCE ".benanza-source"

/* Returns the path of `file` ("../share/x") relative to the directory of the running executable, in the
 * arena; NULL if that directory is unknown or the file is not accessible with `mode` (R_OK, X_OK; see
 * access(2)). */
const char *exe_path(struct arena *a, const char *file, int mode);

/* Returns the path of a file or directory of data/ ("models/resnet50.onnx", "devices"), in the arena: in
 * $BENANZA_DATA if that is set, else in the source tree of the executable, else in the installation. NULL if
 * it does not exist. */
const char *exe_data_path(struct arena *a, const char *file);

#endif
