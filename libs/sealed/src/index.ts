// Sealed objects: AES-256-GCM in segments, their keys and recovery sheets (docs/reference/off-site.md).

export { createSealedBody, isStateOf } from "./body.ts";
export { isSealedError } from "./error.ts";
export { plainSize, sealedSize } from "./format.ts";
export {
  bytesOf,
  findKey,
  formatRing,
  generateKey,
  type KeyRing,
  parseKey,
  parseRing,
  readKeyFile,
  type SealKey,
  writeKeyFile,
} from "./key.ts";
export { open } from "./open.ts";
export {
  compareKeys,
  formatRecordedKeys,
  type KeyFit,
  missingKeys,
  parseRecordedKeys,
  type RecordedKeys,
  recordKeys,
} from "./recorded-keys.ts";
export { formatSheet, parseSheet } from "./recovery-sheet.ts";
export { reseal } from "./reseal.ts";
export { seal } from "./seal.ts";
