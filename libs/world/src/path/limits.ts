// Limits of paths in a world. The kernel limits a path that a program passes (4,096 bytes), not the depth of a folder. We
// descend folder by folder, so our limit is what a path costs in headers and in memory.

/** Longest path below the root of a world that fits in an archive, and, after a folder's own name, in a zip. */
export const mostPathBytes = 64_000;

/** Longer paths can't be opened by their path from the root of the world. */
export const longPathBytes = 4_096;

/** All paths longer than `longPathBytes` of one archive together: a chain of 20,000 folders, but not 100,000 such files. */
export const mostLongPathBytes = 256 << 20;
