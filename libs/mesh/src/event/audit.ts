// Audit entries: published by every service, without delaying the step they record (docs/reference/audit.md#entries).

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { AuditEntry, auditSubject } from "@svc/proto";
import type { Mesh } from "../api.ts";
import type { Core } from "../core.ts";
import { encodeJson } from "../json.ts";
import { store } from "../stream/publish.ts";

const tries = 4;
const pauseMs = 500;
const waitingLimit = 1_000;

type Auditing = { audit: Mesh["audit"]; idle: () => Promise<void> };

/** Fills in `id` and `at` when they are missing; the id makes a repeated publish count once. */
export function createAuditing(core: Core): Auditing {
  const waiting = new Set<Promise<void>>();
  const fail = (action: string, reason: unknown) => {
    core.metrics.auditFailed();
    core.log.error({ action, err: reason }, "publishing an audit entry failed");
  };
  const audit: Mesh["audit"] = (given) => {
    const entry = AuditEntry.safeParse({ id: randomUUID(), at: new Date().toISOString(), ...given });
    if (!entry.success) return fail(given.action, entry.error);
    if (waiting.size >= waitingLimit)
      return fail(given.action, new Error("too many audit entries are waiting for NATS"));
    const work = write(core, entry.data)
      .catch((error: unknown) => fail(given.action, error))
      .finally(() => waiting.delete(work));
    waiting.add(work);
  };
  return {
    audit,
    idle: async () => {
      while (waiting.size > 0) await Promise.all(waiting);
    },
  };
}

async function write(core: Core, entry: AuditEntry): Promise<void> {
  const subject = auditSubject(core.service);
  const message = { subject, body: encodeJson(entry), headers: { "Nats-Msg-Id": entry.id } };
  for (let left = tries - 1; ; left--) {
    try {
      await store(core, message);
      return;
    } catch (error) {
      if (left === 0 || core.closing.aborted) throw error;
    }
    await delay(pauseMs);
  }
}
