// How long paths of a world may be. The kernel bounds a path that a program names (4,096 bytes), not how deep a folder
// lies: we go from folder to folder, so what bounds us is what a path costs in headers and in memory.

/** Longest path below the root of a world that an archive holds; with a folder's own name before it a zip does, too. */
export const mostPathBytes = 64_000;

/** What no program can open by its path from the world's root. */
export const longPathBytes = 4_096;

/** Paths longer than `longPathBytes` of one archive together: a chain of 20,000 folders, not a hundred thousand such files. */
export const mostLongPathBytes = 256 << 20;
