// The stores of the layer, each in a folder.
#pragma once

#include <memory>
#include <string>

#include "store/store.hpp"

namespace headrace::object {

// Where relative folders of stores begin: where the program was when it loaded the layer.
void note_start_folder();
// A store's folder as an absolute path. Throws Error.
std::string folder_of_store(const std::string& folder);
// The store of a folder. Throws Error.
std::shared_ptr<store::Store> store_in(const std::string& folder, bool syncs);

}  // namespace headrace::object
