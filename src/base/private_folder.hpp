// Folders of one user in folders that others use, too.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/error.hpp"

namespace headrace {

inline std::string folder_of_user(const std::string& parent) {
  return parent + "/headrace-" + std::to_string(::geteuid());
}

// A folder, and no link to one, that only this user may enter.
inline bool is_private_folder(const std::string& path) {
  constexpr mode_t kOthers = 0077;
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & kOthers) == 0;
}

// Makes it where it is not there. Error, with its path, where it is another's, or cannot be made.
inline void make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    throw Error("cannot make the folder " + path + ": " + std::generic_category().message(errno),
                errno);
  if (!is_private_folder(path))
    throw Error(path + " is not a folder that only this user may enter", ErrorKind::conflict);
}

}  // namespace headrace
