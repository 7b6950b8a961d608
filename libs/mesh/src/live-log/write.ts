// Writes the live log of a source that several processes could read: each line is stored only behind the writer's own
// last one, so whoever took over ends the one before it, and no line is stored twice (architecture.md 3, event streams).

import { randomBytes } from "node:crypto";
import { Fault, liveSubject } from "@svc/proto";
import type { LiveLogSource, LiveLogWriter } from "../api.ts";
import { encodeHeaders } from "../connection/headers.ts";
import type { Core } from "../core.ts";
import { liveStreamName } from "../stream/catalog.ts";
import { isPublished, publisherHeaders } from "../stream/publisher.ts";

/** Names of the headers of a line. */
export const liveLogHeader = {
  writer: "Svc-Line-Writer",
  position: "Svc-Line-Position",
  /** The source has ended: who reads it live is done after this line. */
  end: "Svc-Line-End",
} as const;

const answerWithinMs = 5_000;
// "wrong last sequence", as the server words it with and without the number.
const wrongSequence: ReadonlySet<number> = new Set([10071, 10164]);

type Last = { sequence: number; writer: string | undefined; position: string | undefined };
type PubAck = { seq?: number; error?: { err_code?: number; description: string } };

/** Takes the place over: from its first line on, the writer before it is refused. */
export async function openLineWriter(core: Core, place: LiveLogSource): Promise<LiveLogWriter> {
  const subject = liveSubject(place.owner, place.noun, place.key);
  const stream = liveStreamName(place.owner);
  const me = randomBytes(9).toString("base64url");
  const found = await findLast(core, stream, subject);
  let sequence = found?.sequence ?? 0;
  let position = found?.position;
  let isUnsure = false;

  /** Whether nobody else wrote; takes what is last for the place to go on from. */
  const isStillMine = async (): Promise<boolean> => {
    const last = await findLast(core, stream, subject);
    // No line at all: they were kept for an hour and there was none since.
    const isOurs =
      last === undefined || last.writer === undefined || last.writer === me || last.sequence === sequence;
    if (isOurs) sequence = last?.sequence ?? 0;
    if (last?.writer === me) position = last.position;
    isUnsure = false;
    return isOurs;
  };
  const put = async (line: Uint8Array, at: string): Promise<"stored" | "refused"> => {
    const headers = {
      [liveLogHeader.writer]: me,
      [liveLogHeader.position]: at,
      "Nats-Expected-Last-Subject-Sequence": String(sequence),
      ...publisherHeaders(core),
    };
    const ack = await ask<PubAck>(core, { subject, body: line, headers: encodeHeaders(headers) });
    if (ack.error && wrongSequence.has(ack.error.err_code ?? 0)) return "refused";
    if (ack.error || ack.seq === undefined) throw unavailable(new Error(ack.error?.description));
    sequence = ack.seq;
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

async function ask<T>(
  core: Core,
  { subject, body, headers }: { subject: string; body: Uint8Array; headers?: Uint8Array },
): Promise<T> {
  const deadlineAt = Date.now() + answerWithinMs;
  try {
    const reply = await core.connection.request({ subject, body, deadlineAt, ...(headers && { headers }) });
    return reply.json<T>();
  } catch (error) {
    throw unavailable(error);
  }
}

async function findLast(core: Core, stream: string, subject: string): Promise<Last | undefined> {
  const reply = await core.connection
    .request({
      subject: `$JS.API.DIRECT.GET.${stream}.${subject}`,
      body: new Uint8Array(0),
      deadlineAt: Date.now() + answerWithinMs,
    })
    .catch((error: unknown) => {
      throw unavailable(error);
    });
  const { headers } = reply;
  if (headers?.code === 404) return undefined;
  const sequence = Number(headers?.values("Nats-Sequence").at(-1));
  if (!headers || headers.code >= 300 || !(sequence > 0))
    throw unavailable(new Error(`the last line of ${subject} cannot be read`));
  // No writer's: what it stands behind is written on.
  if (!isPublished(headers, "read")) return { sequence, writer: undefined, position: undefined };
  const position = headers.get(liveLogHeader.position);
  return {
    sequence,
    writer: headers.get(liveLogHeader.writer),
    position: position === "" ? undefined : position,
  };
}

function unavailable(cause: unknown): Fault {
  return new Fault("unavailable", { cause });
}
