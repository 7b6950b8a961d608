// Archives, file trees and safe paths of worlds (architecture.md 8, behaviour.md h.3).

export { withoutForwarding } from "./archive/forwarding-filter.ts";
export type { Compression } from "./archive/frame-writer.ts";
export { type Archive, openArchive } from "./archive/open.ts";
export { type KeepPlan, keepArchive } from "./archive/store.ts";
export { type Verified, verifyArchive } from "./archive/verify.ts";
export { type Written, writeArchive } from "./archive/write.ts";
export { release } from "./buffer-release.ts";
export { isWorldFault, WorldFault } from "./fault.ts";
export { makeOne, removeOne, renameOne } from "./files/change.ts";
export { listFolder, readWhole } from "./files/read.ts";
export { openDownload, sendFile, sendFolder, sendWorld } from "./files/send.ts";
export { landUpload, writeWhole } from "./files/write.ts";
export { countable } from "./path/extents.ts";
export { Folder } from "./path/folder.ts";
export { parsePath, parseTarget } from "./path/parse.ts";
export { writeAll } from "./path/write-all.ts";
export { isSameWorld } from "./restore/is-same-world.ts";
export { browseArchive, restoreOnly } from "./restore/partial-restore.ts";
export { type Restored, restoreWorld } from "./restore/restore.ts";
export { assertSettled, settleVolume, settleWorld } from "./swap/switch.ts";
export { fetchStream, reportLanded } from "./transfer/fetch.ts";
export { type Door, sendStream } from "./transfer/send.ts";
export { unzip } from "./zip/unzip.ts";
