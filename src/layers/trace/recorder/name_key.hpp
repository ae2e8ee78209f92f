// Names as hashes: who has not the key cannot try out which names they are of.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headrace::trace {

using NameKey = std::array<std::uint64_t, 2>;

// Of the folder of a trace, so that all processes of a run have one, on whatever machines: random
// bytes in a file that the first of them makes. Throws Error.
NameKey name_key(const std::string& folder);

// SipHash-2-4 as sixteen hexadecimal digits.
std::string hash_of(std::string_view name, const NameKey& key);

}  // namespace headrace::trace
