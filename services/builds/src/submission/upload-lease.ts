// One writer of a staged upload at a time, over all replicas: it takes a lease, renews it while it works, and adds parts only
// while it holds it. Each part is a blob of its own, so that a writer that lost its lease can harm nobody's bytes.

import { randomBytes } from "node:crypto";
import { Fault } from "@svc/proto";
import { sql } from "kysely";
import type { Blob, BuildsTrx } from "../database.ts";
import type { SubmissionDeps } from "./deps.ts";
import type { SubmissionRow } from "./row.ts";
import { assertRoom, withLimits } from "./space.ts";
import { getOwnPending } from "./store.ts";

type Deps = Pick<SubmissionDeps, "db" | "settings" | "contexts" | "log">;

type LeaseWanted = {
  id: string;
  userId: string;
  /** Where the bytes start; 0 drops what was staged. Absent for work on what is staged. */
  offset?: number;
  bytes: number;
};

export type UploadLease = AsyncDisposable & {
  /** As it was when the lease was acquired. */
  readonly submission: SubmissionRow;
  readonly writer: string;
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal;
  readonly parts: readonly Blob[];
  readonly received: number;
  /**
   * Adds a stored part; throws `upload_busy` or `not_found` when the lease was lost, and removes its blob. The last part of
   * who wants no more ends the lease with it: one commit less.
   */
  add: (part: Blob, about?: { isLast: boolean }) => Promise<void>;
  /** Takes room for bytes beside what is staged, until the lease ends. Throws the faults of the limits. */
  reserve: (bytes: number) => Promise<void>;
  /** Drops what is staged, as far as the lease is held. */
  drop: () => Promise<void>;
};

/** Throws `not_found`, `already_reviewed`, `upload_busy`, `upload_offset_mismatch` and the faults of the limits. */
export async function acquireUpload(deps: Deps, wanted: LeaseWanted): Promise<UploadLease> {
  const writer = randomBytes(8).toString("hex");
  const { submission, parts, received, dropped } = await withLimits(deps, async (trx, volume) => {
    const submission = await getOwnPending(trx, { id: wanted.id, userId: wanted.userId, lock: true });
    const staged = await readStaged(trx, wanted.id);
    if (staged.isBusy) throw new Fault("upload_busy");
    const isRestart = wanted.offset === 0;
    const dropped = isRestart ? staged.parts : [];
    // A lease that a crash of the database takes back is one that was lost; only what is removed must not be named again.
    if (dropped.length === 0) await sql`set local synchronous_commit to off`.execute(trx);
    if (wanted.offset !== undefined && !isRestart && wanted.offset !== staged.received) {
      throw new Fault("upload_offset_mismatch", { message: `The next part starts at ${staged.received}.` });
    }
    const kept = isRestart ? { parts: [], received: 0 } : staged;
    await writeLease(trx, deps, { ...wanted, ...kept, writer });
    if (wanted.bytes > 0) await assertRoom(trx, deps.settings, { userId: wanted.userId, bytes: 0, volume });
    return { ...kept, submission, dropped };
  });
  await removeQuietly(deps, dropped);
  return holdLease(deps, { submission, writer, parts, received });
}

export async function readStaged(trx: BuildsTrx | Deps["db"], id: string) {
  const row = await trx
    .selectFrom("submission_uploads")
    .select(["parts", "received_bytes", sql<boolean>`coalesce(writer_until > now(), false)`.as("isBusy")])
    .where("submission_id", "=", id)
    .executeTakeFirst();
  return { parts: row?.parts ?? [], received: row?.received_bytes ?? 0, isBusy: row?.isBusy ?? false };
}

const later = (ms: number) => sql<Date>`now() + ${ms} * interval '1 millisecond'`;

type NewLease = LeaseWanted & { writer: string; parts: Blob[]; received: number };

async function writeLease(trx: BuildsTrx, { settings }: Deps, lease: NewLease): Promise<void> {
  const change = {
    parts: JSON.stringify(lease.parts),
    received_bytes: lease.received,
    reserved_bytes: lease.bytes,
    writer: lease.writer,
    writer_until: later(settings.builds.upload_lease),
    touched_at: sql<Date>`now()`,
  };
  await trx
    .insertInto("submission_uploads")
    .values({ submission_id: lease.id, ...change })
    .onConflict((conflict) => conflict.column("submission_id").doUpdateSet(change))
    .execute();
}

const released = { writer: null, writer_until: null, reserved_bytes: 0 };

type Held = { submission: SubmissionRow; writer: string; parts: readonly Blob[]; received: number };

function holdLease(deps: Deps, held: Held): UploadLease {
  const { submission, writer } = held;
  const { id } = submission;
  const { upload_lease: leaseMs } = deps.settings.builds;
  const mine = () =>
    deps.db.updateTable("submission_uploads").where("submission_id", "=", id).where("writer", "=", writer);
  const renewal = keepRenewing(async () => {
    const { numUpdatedRows } = await mine()
      .set({ writer_until: later(leaseMs) })
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }, leaseMs);
  let [isHeld, parts, received] = [true, held.parts, held.received];
  return {
    submission,
    writer,
    signal: renewal.lost,
    get parts() {
      return parts;
    },
    get received() {
      return received;
    },
    add: async (part, { isLast } = { isLast: false }) => {
      const { numUpdatedRows } = await mine()
        .set({
          parts: sql<string>`parts || ${JSON.stringify([part])}::jsonb`,
          received_bytes: sql<number>`received_bytes + ${part.size}`,
          reserved_bytes: sql<number>`greatest(0, reserved_bytes - ${part.size})`,
          touched_at: sql<Date>`now()`,
          ...(isLast && released),
        })
        .executeTakeFirst();
      if (numUpdatedRows === 0n) {
        await removeQuietly(deps, [part]);
        throw await whyLost(deps, id);
      }
      parts = [...parts, part];
      received += part.size;
      isHeld = !isLast;
      if (isLast) renewal.stop();
    },
    reserve: (bytes) =>
      withLimits(deps, async (trx, volume) => {
        await trx
          .updateTable("submission_uploads")
          .set({ reserved_bytes: bytes })
          .where("submission_id", "=", id)
          .where("writer", "=", writer)
          .execute();
        await assertRoom(trx, deps.settings, { userId: submission.submitted_by_id, bytes: 0, volume });
      }),
    drop: async () => {
      const empty = { parts: "[]", received_bytes: 0, reserved_bytes: 0 };
      const { numUpdatedRows } = await mine().set(empty).executeTakeFirst();
      if (numUpdatedRows > 0n) await removeQuietly(deps, parts);
    },
    [Symbol.asyncDispose]: async () => {
      renewal.stop();
      if (!isHeld) return;
      await mine()
        .set(released)
        .execute()
        // It expires.
        .catch(() => {});
    },
  };
}

/** `lost` aborts once the lease is somebody else's, or has not been renewed for as long as it lasts. */
function keepRenewing(
  renew: () => Promise<boolean>,
  leaseMs: number,
): { lost: AbortSignal; stop: () => void } {
  const lost = new AbortController();
  let heardAt = Date.now();
  const timer = setInterval(() => {
    renew().then(
      (isMine) => {
        heardAt = Date.now();
        if (!isMine) lost.abort(new Fault("upload_busy"));
      },
      (error: Error) => {
        if (Date.now() - heardAt > leaseMs) lost.abort(error);
      },
    );
  }, leaseMs / 3);
  return { lost: lost.signal, stop: () => clearInterval(timer) };
}

async function whyLost({ db }: Deps, id: string): Promise<Fault> {
  const row = await db
    .selectFrom("image_submissions")
    .select("status")
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) return new Fault("not_found", { message: "The submission was withdrawn." });
  return new Fault(row.status === "pending_review" ? "upload_busy" : "already_reviewed");
}

/** A blob that stays is swept. */
export async function removeQuietly(
  { contexts, log }: Pick<SubmissionDeps, "contexts" | "log">,
  blobs: readonly { name: string }[],
): Promise<void> {
  await contexts
    .remove(blobs.map(({ name }) => name))
    .catch((error: Error) =>
      log.warn({ error: error.message }, "blobs could not be deleted; the sweep will delete them"),
    );
}
