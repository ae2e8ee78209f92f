#pragma once

#include <string>

namespace headrace {

// What of a shared object is copied: what is for debuggers, too, or what is loaded only, which can
// be a tenth.
enum class Copied { whole, loaded };

// Loads a second, independent copy of the shared object in `path`, with its own static data.
// `flags` are dlopen's, besides RTLD_NOW | RTLD_LOCAL. Returns a dlopen handle that is never
// closed, or null when memory or a temporary file for the copy cannot be had.
void* load_private_copy(const std::string& path, int flags = 0, Copied part = Copied::whole);

}  // namespace headrace
