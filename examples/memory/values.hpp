// Elements between the program's memory and a file's.
#pragma once

#include "file.hpp"

namespace memory {

// Throws Error for a type whose elements are more than the connector can hold.
void require_plain(hid_t type, const std::string& what);

// Whether elements lead to more than their bytes: strings or sequences of variable length.
bool varies(hid_t type);

std::uint64_t elements_of(hid_t space);
// What the elements take in memory.
std::uint64_t size_of(const vol::TerminalObject& object, const Values& values);

// Of the elements that the spaces select (those of `values`, and of the buffer). `fill`: an element
// as the file has it, or empty, which new elements get.
void write(const vol::TerminalObject& object, Values& values, hid_t mem_type, hid_t mem_space,
           hid_t file_space, const void* buffer, const std::vector<std::byte>& fill);
void read(const vol::TerminalObject& object, Values& values, hid_t mem_type, hid_t mem_space,
          hid_t file_space, void* buffer, const std::vector<std::byte>& fill);

// The value of a creation list that elements have which nobody has written; empty for zeros.
std::vector<std::byte> fill_of(const Dataset& dataset);

}  // namespace memory
