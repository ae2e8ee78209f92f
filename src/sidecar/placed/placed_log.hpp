// Logs on a node's own storage (option `path` of the layer log): where a log would be beside its
// file there is a link to it. No HDF5.
//
// They are in PATH/headrace-UID/logs@HOST, which only the user may enter, by their names, which no
// two logs have in common; beside each of them is a link ID.file to its file. On another node the
// link of a log leads nowhere, and says where the log is.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace headrace::sidecar {

// Makes a log that is found at `path`, in the folder of the node's storage. Who may read it is as
// `mode` says. An open descriptor; -1 where nothing can be made there, which is said.
int make_placed_log(const std::string& path, const std::string& place, mode_t mode) noexcept;
// A log without a name, in the same way.
int make_unnamed_log(const std::string& place) noexcept;

// The log that is found at that path: what the link leads to, or the path itself. A link to what is
// not in such a folder of this user's is taken for no log.
std::string real_log(const std::string& path);
bool is_placed(const std::string& path);
// Whether there is something of that name, be it a link to another node's storage.
bool has_name(const std::string& path) noexcept;
// Why a log cannot be opened that has a name: a sentence that names the node; empty where the path
// is no such link, or the log is there.
std::string elsewhere(const std::string& path) noexcept;
// Throws Error where a log that a file needs cannot be opened.
void require_readable(const std::string& path);
// The folder of a placed log, and those that it is in, survive a power cut. Throws Error.
void sync_place(const std::string& path);
// Removes what is on the node's storage of a log, given that path of it. False, with errno, where
// it remains.
bool remove_placed(const std::string& real);
// The name of the copy that a log is given beside its file before it takes the link's place.
inline constexpr std::string_view kPartSuffix = ".part";
std::string part_of(const std::string& path);
// Removes a log, what leads to it, and what a killed process has left of a copy. False, with errno,
// where something remains.
bool unlink_log(const std::string& path);

}  // namespace headrace::sidecar
