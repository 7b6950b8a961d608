// Messages that a consumer gave up on: stored in the stream of the consumer's service, shown by `svc doctor`.

import { deadSubject, type Owner, type ServiceName, streamName } from "@svc/proto";
import type { DeadLetters } from "../api.ts";
import type { Connection } from "../connection/nats-connection.ts";
import type { Core } from "../core.ts";
import { apiCode, isApiCode, jetStreamApi } from "../stream/jetstream-api.ts";
import { store } from "../stream/publish.ts";

const deadHeader = {
  stream: "Svc-Dead-Stream",
  subject: "Svc-Dead-Subject",
  sequence: "Svc-Dead-Sequence",
  attempts: "Svc-Dead-Attempts",
  error: "Svc-Dead-Error",
} as const;

type DeadLetter = {
  durable: string;
  stream: string;
  subject: string;
  sequence: number;
  attempts: number;
  error: string;
  body: Uint8Array;
};

/** Stores a message that the consumer gave up on; throws the fault `unavailable` when it cannot. */
export async function writeDeadLetter(core: Core, letter: DeadLetter): Promise<void> {
  await store(core, {
    subject: deadSubject(core.service as ServiceName, letter.durable),
    body: letter.body,
    headers: {
      "Nats-Msg-Id": `dead-${letter.durable}-${letter.stream}-${letter.sequence}`,
      [deadHeader.stream]: letter.stream,
      [deadHeader.subject]: letter.subject,
      [deadHeader.sequence]: String(letter.sequence),
      [deadHeader.attempts]: String(letter.attempts),
      [deadHeader.error]: letter.error.slice(0, 1_000),
    },
  });
}

type Subjects = { state: { subjects?: Record<string, number> } };
type Stored = { message: { time: string; hdrs?: string } };

/** Dead letters of the consumers of one owner; empty when its stream does not exist. */
export async function readDeadLetters(connection: Connection, owner: Owner): Promise<DeadLetters[]> {
  const stream = streamName(owner);
  const prefix = `svc.dead.${owner}.`;
  try {
    const info = await jetStreamApi<Subjects>(connection, `STREAM.INFO.${stream}`, {
      subjects_filter: `${prefix}>`,
    });
    const counts = Object.entries(info.state.subjects ?? {});
    return await Promise.all(
      counts.map(async ([subject, count]) => {
        const last = await jetStreamApi<Stored>(connection, `STREAM.MSG.GET.${stream}`, {
          last_by_subj: subject,
        });
        const headers = Buffer.from(last.message.hdrs ?? "", "base64").toString("utf8");
        return {
          durable: subject.slice(prefix.length),
          count,
          newest: {
            at: last.message.time,
            subject: headerOf(headers, deadHeader.subject),
            error: headerOf(headers, deadHeader.error),
          },
        };
      }),
    );
  } catch (error) {
    if (isApiCode(error, apiCode.streamNotFound)) return [];
    throw error;
  }
}

function headerOf(block: string, name: string): string {
  const line = block.split("\r\n").find((candidate) => candidate.startsWith(`${name}:`));
  return line === undefined ? "" : line.slice(name.length + 1).trim();
}
