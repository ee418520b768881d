// Process and file-tree calls that Swift's Glibc module leaves out.
#pragma once
#include <spawn.h>

/// Every descriptor from `first` on is closed in the child. The call itself is `posix_spawn_file_actions_addclosefrom_np`.
int glibc_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

/// A pipe whose ends are closed on exec. The call itself is `pipe2`.
int glibc_pipe(int ends[2]);

/// Removes a file tree depth first, without following links. The call itself is `nftw`.
int glibc_remove_tree(const char *path);
