/* Rows of integers that ranks write to a dataset and find there again. */
#pragma once

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_require.h"

enum { kRows = 64, kColumns = 512, kSteps = 4, kChunk = 16 };

static int rank, ranks;

static int value(int id, hsize_t row, hsize_t column) {
  return id * 1000003 + (int)(row * kColumns + column);
}

/* Rows of a dataset: `count` of them from `start` on, each `stride` after the other. */
typedef struct Rows {
  hsize_t start, stride, count;
} Rows;

static Rows slab(int of) { return (Rows){(hsize_t)of * kRows, 1, kRows}; }
static Rows every(int of) { return (Rows){(hsize_t)of, (hsize_t)ranks, kRows}; }

static hid_t select_rows(hid_t dataset, Rows rows) {
  hid_t space = H5Dget_space(dataset);
  hsize_t start[2] = {rows.start, 0}, stride[2] = {rows.stride, 1};
  hsize_t count[2] = {rows.count, 1}, block[2] = {1, kColumns};
  REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block) >= 0);
  return space;
}

/* The middle columns of memory that has one more on each side. */
static hid_t ghosted(hsize_t rows) {
  hsize_t dims[2] = {rows, kColumns + 2}, start[2] = {0, 1}, count[2] = {rows, kColumns};
  hid_t memory = H5Screate_simple(2, dims, NULL);
  REQUIRE(H5Sselect_hyperslab(memory, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
  return memory;
}

static int *filled(int id, Rows rows) {
  int *data = malloc(rows.count * (kColumns + 2) * sizeof *data);
  memset(data, 0x55, rows.count * (kColumns + 2) * sizeof *data);
  for (hsize_t r = 0; r < rows.count; ++r)
    for (hsize_t c = 0; c < kColumns; ++c)
      data[r * (kColumns + 2) + c + 1] = value(id, rows.start + r * rows.stride, c);
  return data;
}

static void write_rows(hid_t dataset, int id, Rows rows, hid_t dxpl) {
  hid_t space = select_rows(dataset, rows), memory = ghosted(rows.count);
  int *data = filled(id, rows);
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, dxpl, data) >= 0);
  memset(data, 0xAA, rows.count * (kColumns + 2) * sizeof *data); /* it is ours again */
  free(data);
  H5Sclose(memory);
  H5Sclose(space);
  usleep(2000);
}

static void check_rows(hid_t dataset, int id, Rows rows, hid_t dxpl) {
  hid_t space = select_rows(dataset, rows), memory = ghosted(rows.count);
  int *data = calloc(rows.count * (kColumns + 2), sizeof *data);
  REQUIRE(H5Dread(dataset, H5T_NATIVE_INT, memory, space, dxpl, data) >= 0);
  for (hsize_t r = 0; r < rows.count; ++r)
    for (hsize_t c = 0; c < kColumns; ++c)
      REQUIRE(data[r * (kColumns + 2) + c + 1] == value(id, rows.start + r * rows.stride, c));
  free(data);
  H5Sclose(memory);
  H5Sclose(space);
}
