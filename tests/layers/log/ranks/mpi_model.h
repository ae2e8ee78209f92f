/* What ranks write into one file together, under a model of what it must hold: the writes of an
 * epoch in the order of ranks, each rank's in its own. */
#ifndef MPI_MODEL_H
#define MPI_MODEL_H

#include <hdf5.h>

enum { kRows = 96, kColumns = 60, kMost = 8 * kRows, kModels = 4 };

extern int rank, ranks;
extern hid_t independent, collective, file;
extern unsigned long long seed; /* of below() */

typedef struct Model {
  const char *name;
  int chunked, deflate, fill;
  hid_t type;
  hsize_t rows;
  hid_t dataset;
  int now[kMost][kColumns];             /* what all see after a flush */
  int mine[kMost][kColumns];            /* what this rank sees before */
  unsigned char whose[kMost][kColumns]; /* the rank that wrote last in this epoch, and one */
} Model;

typedef struct Box {
  hsize_t start[2], stride[2], count[2];
} Box;

unsigned below(unsigned n);

Box random_box(const Model *m);

/* `by` writes value, value + 1, …; all ranks know it, that one does it. */
void put(Model *m, int by, const Box *box, int value);

/* As a type of memory that HDF5 converts from, and not. */
void write_box(Model *m, const Box *box, int value, int as_double, hid_t dxpl);

/* `expected`: now or mine. */
void check(Model *m, int expected[kMost][kColumns], hid_t dxpl);

void check_box(Model *m, const Box *box);

void end_epoch(Model *m);

void flush(Model *models, int count);

/* One write of each rank, or of some; all ranks call this for the model's sake. */
void write_round(Model *m, int together);

void extend(Model *m);

/* H5Dset_extent to fewer rows is where ranks settle; what comes back then is fill values. With
   filters nothing more is logged then. */
void shrink(Model *models, int count, Model *m);

void reopen(Model *m);

/* COLLECTIVE_METADATA: ranks read and write metadata together, of which there is more in the new
   format. */
hid_t access_list(void);

void create_file(const char *name);

void open_models(const char *name, Model *models);

/* What the file must hold, for a reader without plug-ins. */
void save(const char *name, const Model *m);

Model *make_models(void);

void close_models(Model *models);

#endif
