// Archives, file trees and safe paths of worlds (docs/reference/world-lock.md#jobs, docs/reference/backups.md#archive).

export { forwardingFilter } from "./archive/forwarding-filter.ts";
export { openArchive, unpackGzip } from "./archive/open.ts";
export { storeArchive } from "./archive/store.ts";
export { decodeHeader, paddingAfter } from "./archive/tar-header.ts";
export { readTarAs } from "./archive/tar-reader.ts";
export { verifyArchive } from "./archive/verify.ts";
export { type Written, writeArchive } from "./archive/write.ts";
export { releaseConsumed } from "./buffer-release.ts";
export { readContext } from "./build-context/read.ts";
export {
  type ContextEntry,
  type ContextLimits,
  contextLimits,
  createContextRules,
} from "./build-context/rules.ts";
export { unpackContext, unpackPack } from "./build-context/unpack.ts";
export { type NewContextFile, writeContext } from "./build-context/write.ts";
export { isWorldFault, WorldFault } from "./fault.ts";
export { makeFolder, removePath, renamePath } from "./files/change.ts";
export { listFolder, readSmallFile } from "./files/read.ts";
export { openDownload, sendFile, sendFolder, sendWorld } from "./files/send.ts";
export { commitUpload, writeSmallFile } from "./files/write.ts";
export { fillVolume } from "./image/fill.ts";
export { type UnpackLimits, unpackLayers } from "./image/unpack.ts";
export { clampToSafeInteger } from "./path/extents.ts";
export { createFileWriter } from "./path/file-writer.ts";
export { Folder } from "./path/folder.ts";
export { parsePath, parseTarget } from "./path/parse.ts";
export { readAhead } from "./path/read-ahead.ts";
export { writeAll } from "./path/write-all.ts";
export { isSameWorld } from "./restore/is-same-world.ts";
export { browseArchive, restorePaths } from "./restore/partial-restore.ts";
export { type Restored, restoreWorld } from "./restore/restore.ts";
export { assertRecovered, recoverVolume, recoverWorld } from "./swap/switch.ts";
export { fetchStream, reportCommitted, TransferRefused } from "./transfer/fetch.ts";
export { sendStream } from "./transfer/send.ts";
export { type OpenZip, openZip } from "./zip/open.ts";
export type { ZipEntry } from "./zip/read.ts";
export { unzip } from "./zip/unzip.ts";
