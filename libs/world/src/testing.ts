// For tests of packages that use this library.

export { digestOf } from "./files/read.ts";
export { type MadeTar, makeTar } from "./testing/tar.ts";
export { treeOf } from "./testing/tree.ts";
export { makeZip } from "./testing/zip.ts";
