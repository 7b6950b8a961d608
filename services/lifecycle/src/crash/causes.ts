// The table of causes, in order of precedence (docs/reference/crashes.md#causes). A new cause is a row here, a value of
// `CrashCause`, words in the panel and the command line, and a sample of a real log in explain.test.ts.

import type { crashes } from "@svc/proto";

export type Exit = { code?: number | undefined; reason: string };

type CauseRow = {
  cause: Exclude<crashes.CrashCause, "unknown" | "hung">;
  /** The exit alone says it, or must fit for the patterns to count. */
  exit?: (exit: Exit) => boolean;
  /** Of the text of a line behind its time, thread and level; the group `detail` is shown. Each is linear, and anchored, so that chat is not taken for a fault. */
  patterns?: readonly RegExp[];
};

// A process that was asked to end (SIGTERM), or was killed.
const killedCodes: ReadonlySet<number | undefined> = new Set([137, 143]);

export const causeTable: readonly CauseRow[] = [
  { cause: "memory_limit", exit: ({ reason }) => reason === "OOMKilled" },
  { cause: "evicted", exit: ({ reason }) => reason === "Evicted" },
  {
    cause: "memory_limit",
    patterns: [
      /^# There is insufficient memory for the Java Runtime Environment to continue/,
      /^Error occurred during initialization of VM: Could not reserve enough space/,
      /^Could not reserve enough space for [\w ]{1,60}object heap/,
    ],
  },
  {
    cause: "eula",
    patterns: [/^You need to agree to the EULA in order to run the server/],
  },
  {
    cause: "wrong_java",
    patterns: [
      /^(?:[a-z]\w{0,40}\.[\w$.]{1,120}: )?java\.lang\.UnsupportedClassVersionError: (?<detail>[\w/$.-]{1,160}) has been compiled by a more recent version/,
      /^Minecraft [\w.]{1,20} requires running the server with (?<detail>Java \d{1,3}) or above/,
      /^Unrecognized VM option '(?<detail>[^']{1,100})'/,
      /^Unsupported Java detected \((?<detail>[\d.]{1,20})\)/,
    ],
  },
  {
    cause: "port_in_use",
    patterns: [/^\*{4} FAILED TO BIND TO PORT/, /^java\.lang\.IllegalStateException: Failed to bind to port/],
  },
  {
    cause: "world_in_use",
    patterns: [
      /^[a-z]\w{0,40}\.[\w$.]{1,120}: (?<detail>\/[^:]{0,200}session\.lock): already locked/,
      /^[a-z]\w{0,40}\.[\w$.]{1,120}: Failed to check session lock for world/,
    ],
  },
  {
    cause: "java_heap",
    patterns: [
      /^(?:[a-z]\w{0,40}\.[\w$.]{1,120}: )?java\.lang\.OutOfMemoryError: (?<detail>[^\n]{1,100})/,
      /^Terminating due to java\.lang\.OutOfMemoryError: (?<detail>[^\n]{1,100})/,
    ],
  },
  {
    cause: "disk_full",
    patterns: [/^(?:[a-z]\w{0,40}\.[\w$.]{1,120}: )?java\.io\.IOException: No space left on device/],
  },
  {
    cause: "newer_world",
    patterns: [
      /^(?:[a-z]\w{0,40}\.[\w$.]{1,120}: )?Server attempted to load chunk saved with newer version of minecraft! (?<detail>\d{1,6} > \d{1,6})/,
      /^This world was created by an incompatible version/,
      /^Loading worlds from newer versions is not supported/,
    ],
  },
  {
    cause: "missing_dependency",
    patterns: [
      /^- Mod '(?<detail>[^']{1,100})' \([\w-]{1,64}\) [^ ]{1,60} requires [^\n]{1,160}, which is missing!/,
      /^Mod ID: '(?<detail>[\w-]{1,64})', Requested by: '[\w-]{1,64}', [^\n]{1,200}'\[MISSING\]'/,
      /^Missing mandatory dependencies: (?<detail>[^\n]{1,160})/,
      /^Missing or unsupported mandatory dependencies:/,
      /^org\.bukkit\.plugin\.UnknownDependencyException: (?<detail>[^\n]{1,180})/,
    ],
  },
  {
    cause: "mod_conflict",
    patterns: [
      /^net\.fabricmc\.loader\.impl\.FormattedException: (?<detail>Some of your mods are incompatible|Mod resolution encountered an incompatible mod set)/,
      /^- Mod '(?<detail>[^']{1,100})' \([\w-]{1,64}\) [^ ]{1,60} is incompatible with /,
      /^Found a duplicate mod (?<detail>[\w-]{1,64}) at /,
      /^[a-z]\w{0,40}\.[\w$.]{1,120}: Duplicate mods found/,
      /^Mixin apply (?:for mod (?<detail>[\w-]{1,64}) )?failed /,
      /^[a-z]\w{0,40}\.[\w$.]{1,120}: Critical injection failure: [^\n]{1,200}/,
    ],
  },
  {
    cause: "corrupt_world",
    patterns: [
      /^Corrupt regionfile header detected! [^\n]{0,80}regionfile (?<detail>[^\n]{1,160})/,
      /^(?:Exception|Failed) (?:reading|to read|loading) [^\n]{0,60}(?<detail>level\.dat)/,
      /^[a-z]\w{0,40}\.[\w$.]{1,120}: (?:Not in GZIP format|Unexpected end of ZLIB input stream|invalid distance too far back)/,
      /^Chunk (?<detail>\[-?\d{1,8}, -?\d{1,8}\]) header is truncated/,
    ],
  },
  {
    cause: "tick_stalled",
    patterns: [
      /^A single server tick took (?<detail>[\d.,]{1,12} seconds)/,
      /^The server has stopped responding! This is \(probably\) not a (?:Paper|Spigot) bug/,
    ],
  },
  { cause: "unresponsive", exit: ({ code }) => killedCodes.has(code) },
];

/** Written by a server whose end is a fault, whatever its exit code. */
export const faultPatterns: readonly RegExp[] = [
  /^This crash report has been saved to:/,
  /^Encountered an unexpected exception/,
  /^Failed to start the minecraft server/,
  /^Considering it to be crashed, server will forcibly shutdown/,
];
