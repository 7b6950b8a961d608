// Builds on their way through the production services, each of them a process of its own: gateways, NATS, builds, a registry behind its
// gate, an embedded cluster. A step of each build is held, and prints what the bench asks for. Builds is bundled, looks at its Jobs as
// often as it does elsewhere, and has its code cache, as its memory counts.

import { createHash, randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { submissions } from "@svc/proto";
import { account, until } from "../../../libs/mesh/src/testing.ts";
import { makeTar } from "../../../libs/world/src/testing.ts";
import { cookie } from "../../../services/storage/src/testing/face-fixture.ts";
import { openPipelineFixture } from "../../fault/builds/fixture.ts";
import type { Pace } from "../harness/line-rate.ts";
import { serveParent } from "../harness/parent.ts";

const step = "step build";
const staff = account("usr-admin", "admin");
// All viewers of the bench are one account's.
process.env["SVC_SET"] = "gateway.streams_per_account=10000";
const settings = ["registry.max_concurrent_builds=6", "builds.busy_interval=1s", "builds.poll_interval=15s"];
const fixture = await openPipelineFixture(settings, { isShipped: true });

async function begin(): Promise<string> {
  const base = "/api/v1/me/submissions";
  // Gateways may not know yet that builds was started again.
  const made = await until(async () => {
    const answer = await fixture.ask(base, { method: "POST", json: { display_name: "bench" } });
    return answer.status === 201 ? answer : undefined;
  }, 60_000);
  const id = String(made.body["id"]);
  const content = { path: "Dockerfile", content: "FROM scratch\nCOPY Dockerfile /\n" };
  const bytes = gzipSync(makeTar([content, { path: "data", content: randomBytes(1_000) }]));
  const type = { "content-type": "application/gzip" };
  const sent = await fixture.ask(`${base}/${id}/context`, { method: "POST", bytes, headers: type });
  if (sent.status !== 200) throw new Error(`the context was answered ${sent.status}: ${sent.bytes}`);
  const expected_digest = createHash("sha256").update(bytes).digest("hex");
  const { build_id = "" } = await fixture.gateway.call(submissions.approve, { id, expected_digest }, staff);
  await until(() => fixture.runs(build_id).includes("build"), 60_000);
  return build_id;
}

serveParent({
  /** Ids of so many builds, all of them in the step `build`. */
  begin: async (count: number): Promise<string[]> => {
    fixture.hold(step);
    return Promise.all(Array.from({ length: count }, begin));
  },
  /** Where a viewer asks, and as whom. */
  face: () => ({
    port: fixture.ports()[0] ?? 0,
    headers: { ...cookie("usr-1"), host: "op.console.svc.localhost" },
  }),
  /** The builds that it names print until it is answered. */
  print: async ({ names, perSecond, seconds }: Pace) => {
    for (const id of names) fixture.print(id, { perSecond, seconds });
    await until(() => names.every((id) => !fixture.isPrinting(id)), (seconds + 30) * 1_000);
  },
  /** Lets the builds end. */
  end: async (ids: readonly string[]) => {
    fixture.resume(step);
    await until(async () => {
      const rows = await fixture.db
        .selectFrom("image_builds")
        .select("finished_at")
        .where("id", "in", [...ids])
        .execute();
      return rows.every(({ finished_at }) => finished_at !== null);
    }, 120_000);
  },
  close: () => fixture.close(),
});
