// The storage that worker threads use in place of the driver's callbacks: faults befall it as they
// befall those.
#pragma once

#include <memory>

#include "engine/io/file.hpp"
#include "layers/fault/driver/file.hpp"

namespace headrace::fault {

// Each function of `under` is one operation on the file, of data of unknown kind: a sync is a
// flush, a resize a truncation. Null if `under` is null. The file must outlive it.
std::unique_ptr<engine::io::File> faulty(File& file, std::unique_ptr<engine::io::File> under);

}  // namespace headrace::fault
