// Sealed objects: AES-256-GCM in segments, their keys and recovery sheets (docs/reference/off-site.md).

export { createSealedBody, isStateOf, type SealedBody, type SealedBodyOptions } from "./body.ts";
export { isSealedError, SealedError, type SealedProblem } from "./error.ts";
export { plainSize, sealedSize } from "./format.ts";
export {
  bytesOf,
  findKey,
  formatRing,
  generateKey,
  type KeyRing,
  keyOf,
  keysOf,
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
export { formatSheet, parseSheet, wordsOf } from "./recovery-sheet.ts";
export { reseal } from "./reseal.ts";
export { seal } from "./seal.ts";
