// Deduplicated archives for who copies them (docs/reference/backups.md#deduplicated), without the rest of this library.

export { openChunks } from "./chunks/chunk-file.ts";
export { decodeManifest, type Manifest } from "./chunks/manifest.ts";
export { Folder } from "./path/folder.ts";
export { readAhead } from "./path/read-ahead.ts";
