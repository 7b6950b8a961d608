// Writes the live log of a source that several processes could read: lines are stored only directly behind the
// writer's own last one, so a writer that takes over ends its predecessor, and no line is stored twice (docs/reference/mesh.md#subjects,
// event streams).

import { randomBytes } from "node:crypto";
import { liveSubject } from "@svc/proto";
import type { LiveLogLine, LiveLogSource, LiveLogWriter, Mesh } from "../api.ts";
import type { HeaderValues } from "../connection/headers.ts";
import type { Core } from "../core.ts";
import { liveStreamName } from "../stream/names.ts";
import { store } from "../stream/publish.ts";
import { readLast, storeAfter } from "../stream/read-last.ts";
import { createPacedSending, type PacedSending } from "./paced-sending.ts";

/** Headers of a message with lines. */
export const liveLogHeader = {
  writer: "Svc-Line-Writer",
  /** Of the last line. */
  position: "Svc-Line-Position",
  /** Lines of the body, each but the last with a line break behind it; one, which may have line breaks, without this. */
  count: "Svc-Line-Count",
  /** Name of the event that the only line of the body is; absent for plain lines. */
  event: "Svc-Line-Event",
  /** The source has ended: live readers end after this line. */
  end: "Svc-Line-End",
} as const;

/** Lines of one source that are stored as one message. */
const groupBytes = 64 * 1_024;
export const lineBreak = Buffer.from("\n");

type Last = { sequence: number; writer: string | undefined; position: string | undefined };

type LiveLogWriting = Pick<Mesh, "publishLiveLine" | "openLiveLog" | "endLiveLog">;

/** Writes live logs for all sources of this process. */
export function createLiveLogWriting(core: Core): LiveLogWriting {
  const send = createPacedSending(core);
  const publish = async ({ owner, noun, key }: LiveLogSource, body: Uint8Array, headers: HeaderValues) => {
    const message = { subject: liveSubject(owner, noun, key), body, headers };
    await send(owner, async () => (await store(core, message)).seq);
  };
  return {
    publishLiveLine: (place, line) => publish(place, line, {}),
    openLiveLog: (place) => openLiveLogWriter(core, place, send),
    endLiveLog: (place, line, event) =>
      publish(place, line, { [liveLogHeader.end]: "1", [liveLogHeader.event]: event }),
  };
}

/** Takes over the source: from the first line of the new writer on, the previous one is rejected. */
async function openLiveLogWriter(
  core: Core,
  place: LiveLogSource,
  send: PacedSending,
): Promise<LiveLogWriter> {
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
  const put = async (lines: readonly LiveLogLine[]): Promise<boolean> => {
    const { position: at, event } = lines.at(-1) ?? {};
    const headers = {
      [liveLogHeader.writer]: me,
      [liveLogHeader.position]: at,
      [liveLogHeader.event]: event,
      ...(lines.length > 1 && { [liveLogHeader.count]: String(lines.length) }),
    };
    const stored = await send(place.owner, () =>
      storeAfter(core, { subject, body: joined(lines), headers, after: sequence }),
    );
    if (stored === undefined) return false;
    sequence = stored;
    position = at;
    return true;
  };
  /** Lines behind the last stored one. */
  const unwritten = (lines: readonly LiveLogLine[]) =>
    lines.slice(lines.findLastIndex((line) => line.position === position) + 1);
  const writeOne = async (group: readonly LiveLogLine[]): Promise<boolean> => {
    if (isUnsure && !(await isStillMine())) return false;
    for (const isLastTry of [false, true]) {
      const rest = unwritten(group);
      if (rest.length === 0) return true;
      isUnsure = true;
      const isStored = await put(rest);
      if (isStored || isLastTry) {
        isUnsure = false;
        return isStored;
      }
      if (!(await isStillMine())) return false;
    }
    return false;
  };
  return {
    position: () => position,
    write: async (lines) => {
      for (const group of groupsOf(lines)) if (!(await writeOne(group))) return false;
      return true;
    },
  };
}

function* groupsOf(lines: readonly LiveLogLine[]): Generator<LiveLogLine[]> {
  let group: LiveLogLine[] = [];
  let bytes = 0;
  for (const line of lines) {
    // A named event is a message of its own.
    const isNamed = line.event !== undefined || group[0]?.event !== undefined;
    if (group.length > 0 && (isNamed || bytes + line.line.length > groupBytes)) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(line);
    bytes += line.line.length + 1;
  }
  if (group.length > 0) yield group;
}

function joined(lines: readonly LiveLogLine[]): Uint8Array {
  const [first] = lines;
  if (lines.length === 1 && first) return first.line;
  return Buffer.concat(lines.flatMap(({ line }, index) => (index === 0 ? [line] : [lineBreak, line])));
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
