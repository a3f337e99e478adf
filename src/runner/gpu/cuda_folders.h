/* Folders in which vendor libraries may lie, besides those that the loader searches itself. */
#ifndef RUNNER_CUDA_FOLDERS_H
#define RUNNER_CUDA_FOLDERS_H

/* The toolkit's folder of libraries, found by configure; "": none. */
#ifndef BENANZA_CUDA_LIBDIR
#define BENANZA_CUDA_LIBDIR ""
#endif

#define CUDA_FOLDERS_MOST 96
#define CUDA_FOLDER_SIZE 512

struct cuda_folders {
	int count;
	/* Folders that exist, each once, in the order of the search. */
	char path[CUDA_FOLDERS_MOST][CUDA_FOLDER_SIZE];
};

/* Finds, in this order: the toolkit's folder found by configure, $CUDA_HOME/lib64, $CUDA_PATH/lib64, and the
 * folders nvidia/NAME/lib of Python wheels - next to one that LD_LIBRARY_PATH names, then in the
 * site-packages of the python3 in PATH: its virtual environment, its installation, the user's. Runs no
 * Python: the folders follow from the program's path and pyvenv.cfg (docs.python.org/3/library/site.html). */
void cuda_folders_find(struct cuda_folders *f);

#endif
