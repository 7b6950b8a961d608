import { Fault } from "@svc/proto";
import { readPath } from "../file/path.ts";

/** They are passed to the Job in one environment variable, which holds 128 KiB. */
const pathsBytes = 64 * 1_024;

/** The normalized files and folders of a partial restore. Throws `bad_path`. */
export function readRestoredPaths(given: readonly string[]): string[] {
  const paths = given.map(readPath);
  if (Buffer.byteLength(JSON.stringify(paths)) <= pathsBytes) return paths;
  throw new Fault("bad_path", { message: "Too many paths for one restore; name their folder instead." });
}
