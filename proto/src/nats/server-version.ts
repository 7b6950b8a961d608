// Which nats-servers svc works with (docs/operations.md, "Versions").

/**
 * The oldest patch of each release line without a known hole. Lines below the first are refused whole: they drop
 * fields that svc needs without an error. Lines above the last are taken with any patch.
 */
const oldestPatches: readonly { major: number; minor: number; patch: number }[] = [
  { major: 2, minor: 11, patch: 16 },
  { major: 2, minor: 12, patch: 7 },
];

/** The floors in words, for messages: "nats-server 2.11.16, 2.12.7 or newer". */
export const supportedNats = `nats-server ${oldestPatches
  .map(({ major, minor, patch }) => `${major}.${minor}.${patch}`)
  .join(", ")} or newer`;

/** Whether a version as a nats-server reports it ("2.12.7", "2.14.0-RC.1") is accepted; a text that is none is not. */
export function isSupportedNats(version: string): boolean {
  const [, major, minor, patch] = /^(\d{1,4})\.(\d{1,4})\.(\d{1,4})/.exec(version)?.map(Number) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return false;
  const line = oldestPatches.find((oldest) => oldest.major === major && oldest.minor === minor);
  if (line) return patch >= line.patch;
  const newest = oldestPatches.at(-1);
  return newest !== undefined && (major > newest.major || (major === newest.major && minor > newest.minor));
}
