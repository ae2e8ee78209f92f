/* How the functions of the other headers reach their layer: by HDF5's optional operations. */
#ifndef HEADRACE_OPERATION_H
#define HEADRACE_OPERATION_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

#if H5_VERSION_GE(1, 14, 0)
#include <H5VLconnector.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What the functions return; each header tells what it means there. */
enum { HEADRACE_DONE = 0, HEADRACE_ABSENT = 1, HEADRACE_FAILED = -1 };

/* Used by the functions of the other headers. */
static inline int headrace_operation_(hid_t object, int on_file, const char *name, void *args) {
#if H5_VERSION_GE(1, 14, 0)
  const H5VL_subclass_t kind = on_file ? H5VL_SUBCLS_FILE : H5VL_SUBCLS_DATASET;
  H5VL_optional_args_t call;
  uint64_t flags = 0;
  int there = 0;
  H5E_BEGIN_TRY {
    there = H5VLfind_opt_operation(kind, name, &call.op_type) >= 0 &&
            H5VLquery_optional(object, kind, call.op_type, &flags) >= 0 &&
            (flags & H5VL_OPT_QUERY_SUPPORTED) != 0;
    if (!there) H5Eclear2(H5E_DEFAULT);
  }
  H5E_END_TRY
  if (!there) return HEADRACE_ABSENT;
  call.args = args;
  return (on_file ? H5VLfile_optional_op(object, &call, H5P_DEFAULT, H5ES_NONE)
                  : H5VLdataset_optional_op(object, &call, H5P_DEFAULT, H5ES_NONE)) < 0
             ? HEADRACE_FAILED
             : HEADRACE_DONE;
#else
  (void)object, (void)on_file, (void)name, (void)args;
  return HEADRACE_ABSENT;
#endif
}

#ifdef __cplusplus
}
#endif

#endif /* HEADRACE_OPERATION_H */
