// Writes the live log of a source that several processes could read: each line is stored only directly behind the
// writer's own last one, so a writer that takes over ends its predecessor, and no line is stored twice (docs/reference/mesh.md#subjects,
// event streams).

import { randomBytes } from "node:crypto";
import { liveSubject } from "@svc/proto";
import type { LiveLogSource, LiveLogWriter } from "../api.ts";
import type { Core } from "../core.ts";
import { liveStreamName } from "../stream/catalog.ts";
import { readLast, storeAfter } from "../stream/read-last.ts";

/** Headers of a line. */
export const liveLogHeader = {
  writer: "Svc-Line-Writer",
  position: "Svc-Line-Position",
  /** The source has ended: live readers end after this line. */
  end: "Svc-Line-End",
} as const;

type Last = { sequence: number; writer: string | undefined; position: string | undefined };

/** Takes over the source: from the first line of the new writer on, the previous one is rejected. */
export async function openLiveLogWriter(core: Core, place: LiveLogSource): Promise<LiveLogWriter> {
  const subject = liveSubject(place.owner, place.noun, place.key);
  const stream = liveStreamName(place.owner);
  const me = randomBytes(9).toString("base64url");
  const found = await findLast(core, stream, subject);
  let sequence = found?.sequence ?? 0;
  let position = found?.position;
  let isUnsure = false;

  /** Whether nobody else has written since; continues behind the last line if so. */
  const isStillMine = async (): Promise<boolean> => {
    const last = await findLast(core, stream, subject);
    // No line at all: lines are kept for an hour, and there was none since.
    const isOurs =
      last === undefined || last.writer === undefined || last.writer === me || last.sequence === sequence;
    if (isOurs) sequence = last?.sequence ?? 0;
    if (last?.writer === me) position = last.position;
    isUnsure = false;
    return isOurs;
  };
  const put = async (line: Uint8Array, at: string): Promise<"stored" | "refused"> => {
    const headers = { [liveLogHeader.writer]: me, [liveLogHeader.position]: at };
    const stored = await storeAfter(core, { subject, body: line, headers, after: sequence });
    if (stored === undefined) return "refused";
    sequence = stored;
    position = at;
    return "stored";
  };
  return {
    position: () => position,
    write: async (line, at) => {
      if (isUnsure && !(await isStillMine())) return false;
      if (position === at) return true;
      isUnsure = true;
      let result = await put(line, at);
      if (result === "refused") {
        if (!(await isStillMine())) return false;
        if (position === at) return true;
        isUnsure = true;
        result = await put(line, at);
      }
      isUnsure = false;
      return result === "stored";
    },
  };
}

async function findLast(core: Core, stream: string, subject: string): Promise<Last | undefined> {
  const last = await readLast(core, stream, subject);
  if (!last) return undefined;
  const { sequence, headers } = last;
  // Not written by a service: the next line is stored behind it.
  if (!last.isPublished) return { sequence, writer: undefined, position: undefined };
  const position = headers.get(liveLogHeader.position);
  return {
    sequence,
    writer: headers.get(liveLogHeader.writer),
    position: position === "" ? undefined : position,
  };
}
