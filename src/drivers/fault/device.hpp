// The device that worker threads use in place of the driver's callbacks: faults befall it as they
// befall those.
#pragma once

#include <memory>

#include "drivers/fault/file.hpp"
#include "engine/device.hpp"

namespace headrace::fault {

// Each function of `under` is one operation on the file, of data of unknown kind: a sync is a
// flush, a resize a truncation. Null if `under` is null. The file must outlive it.
std::unique_ptr<engine::Device> faulty(File& file, std::unique_ptr<engine::Device> under);

}  // namespace headrace::fault
