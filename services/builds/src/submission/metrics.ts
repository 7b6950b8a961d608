import { submissions } from "@svc/proto";
import { Counter, createDurations, Gauge, type Registry } from "@svc/telemetry";
import { sql } from "kysely";
import type { BuildsDb } from "../database.ts";

export type SubmissionMetrics = {
  /** Bytes of a context were stored. */
  received: (bytes: number) => void;
  /** A submission was approved or rejected; `uploadedAt` is null when its context never came. */
  reviewed: (result: "approved" | "rejected", uploadedAt: Date | null) => void;
  /** Counts what the database holds. */
  count: (db: BuildsDb) => Promise<void>;
};

const statuses = submissions.SubmissionStatus.options;
const hour = 3_600;

/** The metrics of docs/reference/metrics.md#builds about submissions. */
export function createSubmissionMetrics(registry: Registry): SubmissionMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const counts = new Gauge({
    name: "svc_submissions",
    help: "Submissions by status.",
    labelNames: ["status"] as const,
    registers,
  });
  const oldest = gauge(
    "svc_submission_oldest_wait_seconds",
    "Time since the upload of the submission that has waited longest for its review; 0 if none waits.",
  );
  const stored = gauge("svc_submission_context_bytes", "Bytes of all contexts that are kept or staged.");
  const mails = gauge("svc_submission_notices_waiting", "Mails to authors that have not been sent.");
  const bytes = new Counter({
    name: "svc_submission_upload_bytes_total",
    help: "Bytes of contexts received.",
    registers,
  });
  const waits = createDurations(registry, {
    name: "svc_submission_review_wait_seconds",
    help: "Time from the upload of a submission to its review, by result.",
    labels: { result: ["approved", "rejected"] },
    buckets: [600, hour, 6 * hour, 24 * hour, 72 * hour, 168 * hour, 720 * hour],
  });
  return {
    received: (count) => bytes.inc(count),
    reviewed: (result, uploadedAt) => {
      if (uploadedAt) waits({ result }, Math.max(0, (Date.now() - uploadedAt.getTime()) / 1_000));
    },
    count: async (db) => {
      const found = await countSubmissions(db);
      for (const status of statuses) counts.set({ status }, found.statuses.get(status) ?? 0);
      oldest.set(found.oldestWait);
      stored.set(found.bytes);
      mails.set(found.notices);
    },
  };
}

async function countSubmissions(db: BuildsDb) {
  const [groups, wait, staged, notices] = await Promise.all([
    db
      .selectFrom("image_submissions")
      .select((eb) => ["status", eb.fn.countAll<number>().as("count"), totalOf("context_bytes").as("bytes")])
      .groupBy("status")
      .execute(),
    db
      .selectFrom("image_submissions")
      .select(sql<number>`coalesce(extract(epoch from now() - min(uploaded_at)), 0)::float8`.as("seconds"))
      .where("status", "=", "pending_review")
      .executeTakeFirstOrThrow(),
    db
      .selectFrom("submission_uploads")
      .select(totalOf("received_bytes").as("bytes"))
      .executeTakeFirstOrThrow(),
    db
      .selectFrom("submission_notices")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("sent_at", "is", null)
      .executeTakeFirstOrThrow(),
  ]);
  return {
    statuses: new Map(groups.map(({ status, count }) => [status, count])),
    bytes: groups.reduce((sum, group) => sum + group.bytes, staged.bytes),
    oldestWait: Math.max(0, wait.seconds),
    notices: notices.count,
  };
}

const totalOf = (column: string) => sql<number>`coalesce(sum(${sql.ref(column)}), 0)::bigint`;
