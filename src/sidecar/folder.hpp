// The folder beside a file that keeps its log until that is in the file: FILE.headrace/ID.log,
// where ID is what the file's marker says. No HDF5.
#pragma once

#include <cstdint>
#include <string>

#include "sidecar/marker_name.hpp"

namespace headrace::sidecar {

// A file's path as it is called from everywhere.
std::string path_of(const char* name);

Owner random_owner();
// The folder that its log would be in.
std::string folder_of(const std::string& file);
bool has_folder(const std::string& file);
std::string log_path(const std::string& file, const Owner& owner, const std::string& part = {});

// A new log in the folder of a file, open for reading and writing; or (`place` names a folder)
// there, see placed_log.hpp. Who may read the file may read the log, if it is beside it. Throws
// Error.
int make_log(const std::string& path, const std::string& place);
// The log, open for reading and writing: a new one, or one that is empty. Throws Error.
int open_log(const std::string& file, const Owner& owner, bool is_new, const std::string& place);
// Nothing is left in the log but what it belongs to; with `sync` not after a power cut either.
// Throws Error.
void empty_log(int descriptor, const std::string& path, bool sync);
std::uint64_t size_of(int descriptor);
// The folder goes, too, when nothing else is in it. Throws Error when the log remains.
void remove_log(const std::string& path);

// All logs of that owner. What cannot be removed stays.
void remove_logs(const std::string& file, const Owner& owner);

// The file, or the folder and what it has of names, survive a power cut. Throws Error.
void sync_file(const std::string& path);
void sync_names(const std::string& file);

}  // namespace headrace::sidecar
