// What staff decide about an image after its scan: a finding is accepted for a time, a moved base is built on again. The image is
// the one of pack-builds.ts; a later scan of it and an older base are written as the rescan and the registry leave them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import { en } from "../../services/panel/src/words/en/index.ts";
import { packs } from "../../services/panel/src/words/en/packs.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { otherBuild } from "./build-page.ts";
import type { Area, Fixture } from "./fixture.ts";

const { builds, scan } = packs;
const { images } = en;
const dayMs = 86_400_000;
const scanId = "5".repeat(32);
const finding = {
  ...{ id: "CVE-2026-0001", kind: "vulnerability", severity: "CRITICAL", blocking: true },
  ...{ target: "app/node_modules/left-pad/package.json", package: "left-pad" },
  ...{
    installed: "1.3.0",
    fixed: "1.3.1",
    title: `Padding <img src=x onerror="wasRun=1"> on the wrong side`,
  },
};

async function query({ stack }: Fixture, text: string, values: unknown[] = []): Promise<pg.QueryResult> {
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  return client.query(text, values).finally(() => client.end());
}

/** The newest build that succeeded. */
async function findBuild(fixture: Fixture): Promise<{ id: string; image_ref: string }> {
  const { rows } = await query(
    fixture,
    "select id, image_ref from builds.image_builds where kind = 'build' and status = 'succeeded' order by arrival desc limit 1",
  );
  return rows[0] ?? assert.fail("no build has succeeded");
}

/** A scan of the built image on a later day that finds what the policy blocks. */
async function flag(fixture: Fixture, buildId: string): Promise<void> {
  await query(
    fixture,
    `with scanned as (
       insert into builds.image_builds
         (id, kind, image_ref, image_digest, status, context_ref, requested_by, started_at, finished_at)
       select $2, 'scan', image_ref || '@' || image_digest, image_digest, 'succeeded', '', 'svc', now(), now()
       from builds.image_builds where id = $1 returning id)
     insert into builds.image_build_scans (build_id, blocked, summary, scanned_at)
     select scanned.id, true, summary || $3::jsonb, now() from builds.image_build_scans, scanned where build_id = $1`,
    [
      buildId,
      scanId,
      JSON.stringify({
        blocked: true,
        findings: [finding],
        counts: { CRITICAL: 1 },
        blocking_counts: { CRITICAL: 1 },
      }),
    ],
  );
  await query(
    fixture,
    `update builds.image_whitelist w set digest = b.image_digest from builds.image_builds b
     where b.id = $1 and w.image_ref = b.image_ref`,
    [buildId],
  );
}

/** Whether a run of the watchdog has mailed that this image is flagged. */
async function isMailed({ stack }: Fixture, image: string): Promise<boolean> {
  await stack.svc("watchdog");
  const answer = await fetch(new URL("/messages", stack.file().mail.page));
  const mails = (await answer.json()) as { text: string }[];
  return mails.some(({ text }) => text.includes(image) && text.includes("would not be published today"));
}

export const addScanDecisionTests: Area = (fixture) => {
  test("an image whose later scan blocks is flagged, and its finding accepted until a day", async () => {
    const { owner, addressOf, inspect } = fixture();
    const { id, image_ref } = await findBuild(fixture());
    await flag(fixture(), id);
    await owner.open(addressOf("admin_host", "/admin/images"));
    await owner.sees(images.flaggedTitle);
    await owner.sees(images.flaggedCount(1));
    await owner.sees(images.flagged);
    await inspect(owner, "images-flagged");
    await query(
      fixture(),
      `update identity.users set email = 'staff@example.net', email_verified = true where role = 'owner'`,
    );
    await until(() => isMailed(fixture(), image_ref), 60_000, "the mail that an image is flagged");
    await owner.open(addressOf("admin_host", `/admin/builds/${scanId}`));
    await owner.sees(scan.flagged);
    await owner.press("button", scan.acceptOf(isolate(finding.id), isolate(finding.package)));
    await owner.fill(scan.acceptReason, "It pads nothing that players send.");
    await owner.pick("until", new Date().toISOString().slice(0, 10));
    await owner.sees(scan.acceptPast);
    await inspect(owner, "build-accept");
    await owner.pick("until", new Date(Date.now() + 30 * dayMs).toISOString().slice(0, 10));
    await owner.seesNo(scan.acceptPast);
    await owner.press("button", scan.acceptAction);
    await owner.sees(scan.acceptDone(isolate(finding.id)));
    const { body } = await owner.request("GET", "/images/acceptances");
    const [accepted] = body["acceptances"] as Record<string, unknown>[];
    const repository = image_ref.replace(/:[^:/]*$/, "");
    assert.deepEqual(
      [accepted?.["finding_id"], accepted?.["package"], accepted?.["repository"]],
      [finding.id, finding.package, repository],
    );
    await inspect(owner, "build-accepted");
    await owner.open(addressOf("admin_host", `/admin/builds/${scanId}?with=${id}`));
    await owner.sees(scan.addedFindings(1));
    await owner.sees(scan.goneFindings(0));
    await inspect(owner, "build-compared");
  });

  test("an acceptance is listed with its reason, and removed", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/admin/builds"));
    await owner.sees("It pads nothing that players send.");
    await inspect(owner, "builds-accepted");
    await owner.press("button", scan.acceptedRemoveOf(isolate(finding.id), isolate(finding.package)));
    await owner.press("button", scan.acceptedRemoveAction);
    await owner.seesNo("It pads nothing that players send.");
    await query(fixture(), "delete from builds.image_builds where id = $1", [scanId]);
  });

  test("a build that failed says why and is repeated", async () => {
    const { owner, addressOf } = fixture();
    const { id } = await findBuild(fixture());
    const failed = "f".repeat(32);
    const why = "push: the registry is unavailable; retry the build later";
    await query(
      fixture(),
      `insert into builds.image_builds
         (id, image_ref, status, context_ref, context_digest, requested_by, error, started_at, finished_at)
       select $2, image_ref, 'failed', context_ref, context_digest, 'svc', $3, now(), now()
       from builds.image_builds where id = $1`,
      [id, failed, why],
    );
    await owner.open(addressOf("admin_host", `/admin/builds/${failed}`));
    await owner.sees(why);
    await owner.press("button", builds.retry);
    const next = await otherBuild(owner, failed);
    await owner.sees(builds.steps["scan-gate"]);
    const { body } = await owner.request("GET", `/images/build/${next}`);
    assert.equal(body["retry_of"], failed);
    const isDone = async () =>
      (await owner.page.$eval("main", (main) => main.textContent)).includes(builds.succeededHelp);
    await until(isDone, 240_000, "the repeated build to succeed");
  });

  test("an image whose base has moved is built again", async () => {
    const { owner, addressOf, inspect } = fixture();
    const { id, image_ref } = await findBuild(fixture());
    await query(
      fixture(),
      `update builds.image_builds set bases = jsonb_set(bases, '{0,digest}', to_jsonb('sha256:' || repeat('0', 64)))
       where id = $1`,
      [id],
    );
    await owner.open(addressOf("admin_host", "/admin/images"));
    await owner.sees(images.rebuildTitle);
    await inspect(owner, "images-moved");
    await owner.press("button", images.rebuildOf(isolate(image_ref)));
    const next = await otherBuild(owner, id);
    await owner.sees(builds.steps["scan-gate"]);
    const { body } = await owner.request("GET", `/images/build/${next}`);
    assert.deepEqual([body["image_ref"], body["kind"] ?? "build"], [image_ref, "build"]);
    // Only its start is of interest here; one that has ended by now answers 409.
    await owner.request("POST", `/images/build/${next}/cancel`);
  });
};
