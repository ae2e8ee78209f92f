// The device that worker threads use in place of the driver's callbacks: recorded as those are.
#pragma once

#include <memory>

#include "drivers/model/recorder.hpp"
#include "engine/device.hpp"

namespace headrace::model {

// Each function of `under` is one call to `recorder`, of data of unknown kind: a sync is a flush, a
// resize a truncation. Null if `under` is null. The recorder must outlive it.
std::unique_ptr<engine::Device> recorded(Recorder& recorder, std::unique_ptr<engine::Device> under);

}  // namespace headrace::model
