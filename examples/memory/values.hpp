// Elements between the program's memory and a file's.
#pragma once

#include "file.hpp"

namespace memory {

// Throws Error for a type whose elements are more than the connector can hold.
void require_plain(hid_t type, const std::string& what);

std::uint64_t elements_of(hid_t space);
// What the elements take in memory.
std::uint64_t size_of(const vol::TerminalObject& object, const Values& values);

// Of the elements that the spaces select (those of `values`, and of the buffer). New elements get
// the fill value of the creation list `dcpl`, where there is one. What overwritten elements had of
// variable length HDF5 frees.
void write(const vol::TerminalObject& object, Values& values, hid_t mem_type, hid_t mem_space,
           hid_t file_space, const void* buffer, hid_t dcpl = kInvalidId);
void read(const vol::TerminalObject& object, Values& values, hid_t mem_type, hid_t mem_space,
          hid_t file_space, void* buffer, hid_t dcpl = kInvalidId);

// Frees what the elements have of variable length.
void release(const vol::TerminalObject& object, Values& values);

}  // namespace memory
