// What a trace says of the transfers of elements: what they select, as what type, how many bytes.
// The application's thread only; what is asked of HDF5 keeps the error stack as it was.
#pragma once

#include <cstdint>
#include <vector>

#include "layers/trace/connector/objects.hpp"
#include "layers/trace/recorder/tables.hpp"
#include "vol/dataset/transfer.hpp"

namespace headrace::trace {

// Fills in what the row has of a transfer that HDF5 has made of that dataset.
void tell_transfer(const vol::Transfer& transfer, TracedObject& traced, Call& row);

// A row, and where rows are summed up the requests made in its call.
struct HeldRow {
  Call call;
  std::vector<Request> requests;
};
void add_row(const HeldRow& row);

// HDF5 says in the program's transfer list what it did of a collective call, but only once it has
// returned from it. Rows of such a call are held until the next one, or the end.
void hold(HeldRow row, hid_t dxpl);
bool holds_rows();
void release_held();

// Note the extent of a dataset or an attribute that is made with that dataspace, so that its
// transfers need not ask.
void note_extent(TracedObject& traced, hid_t space);
void count_elements(TracedObject& traced, hid_t space);

// The same of an attribute's elements.
void tell_elements(const vol::Object& attribute, TracedObject& traced, hid_t mem_type, Call& row);

}  // namespace headrace::trace
