// For tests of packages that use this library.

export { digestOf } from "./files/read.ts";
export { type TreeEntry, treeOf } from "./testing/tree.ts";
export { type Made, makeZip } from "./testing/zip.ts";
