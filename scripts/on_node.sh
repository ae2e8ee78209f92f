#!/bin/sh
# Runs a program as a rank of MPICH on one of two nodes for which this machine stands in, by turns:
#   MPIR_CVAR_NUM_CLIQUES=2 mpiexec -n 4 on_node.sh FOLDER PROGRAM [WORD ...]
# The nodes have host names of their own, and see FOLDER/node0 or FOLDER/node1 as FOLDER/local.
# It needs the right to make mount and UTS namespaces.
set -e
folder=$1
shift
# shellcheck disable=SC2016 # the shell in the new namespaces is to expand these
exec unshare -mu sh -ec '
    mount --bind "$0/$1" "$0/local"
    hostname "$1"
    shift
    exec "$@"' "$folder" "node$((PMI_RANK % 2))" "$@"
