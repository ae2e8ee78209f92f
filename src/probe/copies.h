/* The copies of libhdf5 in this process. */
#pragma once

#include <stdbool.h>

#include "line.h"

/* Appends a JSON array with one object per copy. Without any copy it appends an array of the names
 * of all objects instead, under which HDF5 may be hidden, as the member after.
 * `may_call` says whether a harmless function of a copy may be called, which takes its lock;
 * `alone` that no other thread runs, so that the loader's lock, perhaps left held by a thread that
 * fork() did not copy, must not be waited for. */
void headrace_add_copies(struct Line* line, const char* exe, bool may_call, bool alone);
