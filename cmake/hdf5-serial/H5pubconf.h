/* What HDF5's public headers ask of the configuration, for a serial library on any Unix.
 * It takes the place of the installed one, so that building Headrace needs no MPI even where
 * HDF5 is parallel: the plug-ins learn at load time what the library in the process can do. */
#ifndef H5pubconf_H
#define H5pubconf_H

#define H5_HAVE_BUILTIN_EXPECT 1
#define H5_HAVE_SYS_TYPES_H 1
#ifdef __linux__
#define H5_HAVE_FEATURES_H 1
#endif

#define H5_SIZEOF_INT __SIZEOF_INT__
#define H5_SIZEOF_LONG __SIZEOF_LONG__
#define H5_SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define H5_SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define H5_SIZEOF_SSIZE_T __SIZEOF_SIZE_T__

#endif
