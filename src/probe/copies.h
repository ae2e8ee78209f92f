/* The copies of libhdf5 in this process. */
#pragma once

#include <stdbool.h>

#include "line.h"

/* Appends "copies", a JSON array with one object per copy, found with the loader's help. Where
 * there is none, appends "objects" as well: the names of all that is loaded, in which HDF5 may be
 * hidden. `may_call` says whether a harmless function of a copy may be called, which takes its
 * lock. */
void headrace_add_copies(struct Line* line, const char* exe, bool may_call);

/* Appends empty "copies" and "objects", the latter as the kernel tells them. For a forked child: a
 * thread that it does not have may have left the loader's lists half changed and locked. */
void headrace_add_mapped(struct Line* line);
