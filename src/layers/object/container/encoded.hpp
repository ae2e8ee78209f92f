// Types, dataspaces and property lists as a container keeps them. The program's thread only; what
// fails throws Error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hdf5/id.hpp"
#include "objects/committed_type.hpp"
#include "objects/format/header.hpp"
#include "objects/format/link.hpp"

namespace headrace::object {

std::string encoded_type(hid_t type);
Id<Kind::datatype> decoded_type(const std::string& text);
using objects::committed_type;
using objects::with_reference;
using objects::without_reference;

std::string encoded_space(hid_t space);
Id<Kind::dataspace> decoded_space(const std::string& text);

// Empty for a list that is as `usual`, which it is decoded to.
std::string encoded_list(hid_t list, hid_t usual);
Id<Kind::plist> decoded_list(const std::string& text, hid_t usual);
// Only to be looked at: the usual list is not copied, which would cost more than what is asked of
// it.
Id<Kind::plist> shared_list(const std::string& text, hid_t usual);

// A dataset's extent.
void put_extent(hid_t space, objects::Header& header);
Id<Kind::dataspace> extent_of(const objects::Header& header);

}  // namespace headrace::object
