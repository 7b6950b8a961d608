// For tests of what stands on this lib.

export { digestOf } from "./files/read.ts";
export { type TreeEntry, treeOf } from "./testing/tree.ts";
export { type Made, makeZip } from "./testing/zip.ts";
