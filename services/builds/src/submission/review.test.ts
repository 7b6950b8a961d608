import assert from "node:assert/strict";
import { readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { faultOf, until } from "@svc/mesh/testing";
import { accounts, Fault, type InputOf, notices, submissions } from "@svc/proto";
import { outboxRow } from "@svc/store";
import { sql } from "kysely";
import { admin } from "../testing/fixture.ts";
import {
  author,
  contextOf,
  type SubmissionFixture,
  sha256Of,
  startSubmissionFixture,
  stranger,
} from "../testing/submissions.ts";

let fixture: SubmissionFixture;
const mails: InputOf<typeof notices.sendNotice>[] = [];
let mailFault: "mail_rate_limited" | undefined;

before(async () => {
  fixture = await startSubmissionFixture(["builds.sweep_interval=100ms"]);
  await fixture.start([]);
  fixture.identity.serve(notices.sendNotice, (_context, mail) => {
    if (mailFault) throw new Fault(mailFault);
    mails.push(mail);
    return { result: "delivered" as const };
  });
  await fixture.identity.announce();
});
after(() => fixture?.stop());
beforeEach(() => {
  mailFault = undefined;
});

const digestOf = ({ context_sha256 }: submissions.Submission) => context_sha256 ?? "";
const filesOf = (id: string) => {
  try {
    return readdirSync(join(fixture.folder, id));
  } catch {
    return [];
  }
};
const buildsOf = (id: string) =>
  fixture.db.selectFrom("image_builds").selectAll().where("submission_id", "=", id).execute();

describe("an approval", () => {
  test("names the context that was reviewed and makes its build at once", async () => {
    const one = await fixture.submit(contextOf({ a: "1" }));
    const approved = await fixture.approve(one.id, digestOf(one));
    assert.equal(approved.status, "approved");
    assert.equal(approved.reviewed_by, "usr-admin");
    assert.equal(approved.image_ref, `127.0.0.1:5000/user-uploads/${one.id}:latest`);
    const [build, ...others] = await buildsOf(one.id);
    assert.deepEqual(others, []);
    assert.equal(build?.id, approved.build_id);
    assert.equal(build?.context_digest, one.context_sha256);
    assert.equal(build?.context_ref, `http://127.0.0.1:8081/api/v1/internal/submissions/${one.id}/context`);
    assert.equal(build?.dockerfile, "FROM scratch\n");
    assert.equal(
      (await fixture.gateway.call(submissions.read, { id: one.id }, admin)).build_status,
      "pending",
    );
    await until(() =>
      mails.some(({ kind, facts }) => kind === "submission-approved" && facts["pack"] === "My pack"),
    );
  });
  test("of another digest, of none, or of a context that was replaced since is refused", async () => {
    const one = await fixture.submit(contextOf({ a: "1" }));
    const second = await fixture.upload(one.id, contextOf({ a: "2" }));
    assert.equal(await faultOf(fixture.approve(one.id, digestOf(one))), "context_changed");
    const empty = await fixture.create();
    assert.equal(await faultOf(fixture.approve(empty.id, digestOf(one))), "context_changed");
    assert.equal(await faultOf(fixture.approve("sub-x", digestOf(one))), "not_found");
    assert.equal(await faultOf(fixture.approve(one.id, digestOf(second))), "none");
  });
  test("is refused while no registry is set", async () => {
    const unset = await startSubmissionFixture(["registry.url="]);
    try {
      const one = await unset.submit(contextOf({}));
      await assert.rejects(unset.approve(one.id, digestOf(one)), {
        fault: "registry_unavailable",
        message: /registry\.url/,
      });
    } finally {
      await unset.stop();
    }
  });
  for (const round of [1, 2, 3]) {
    test(`of two approvals, a rejection and a withdrawal at once exactly one comes about (${round})`, async () => {
      const one = await fixture.submit(contextOf({ round: `${round}` }));
      const outcomes = await Promise.all([
        faultOf(fixture.approve(one.id, digestOf(one))),
        faultOf(fixture.approve(one.id, digestOf(one))),
        faultOf(fixture.reject(one.id)),
        faultOf(fixture.gateway.call(submissions.withdraw, { id: one.id }, author)),
      ]);
      assert.equal(outcomes.filter((outcome) => outcome === "none").length, 1, outcomes.join(" "));
      const now = await fixture.find(one.id);
      assert.equal((await buildsOf(one.id)).length, now?.status === "approved" ? 1 : 0);
    });
  }
});

describe("a rejection", () => {
  test("keeps its reason, mails it once, and needs one", async () => {
    const { id } = await fixture.submit(contextOf({}));
    assert.equal(await faultOf(fixture.reject(id, "  ")), "bad_request");
    const reason = `Mods without a licence: ${"x".repeat(800)}`;
    const rejected = await fixture.reject(id, reason);
    assert.deepEqual([rejected.status, rejected.reject_reason], ["rejected", reason]);
    assert.equal(await faultOf(fixture.reject(id)), "already_reviewed");
    const sent = () => mails.filter(({ facts }) => facts["reason"]?.startsWith("Mods without a licence"));
    await until(() => sent().length > 0);
    assert.equal(sent()[0]?.user_id, "usr-1");
    await until(() => fixture.audits.some(({ action }) => action === "submission.reject"));
    assert.equal(sent().length, 1);
  });
});

describe("mails to authors", () => {
  test("one that identity can't take now is sent later, once, by one of the replicas", async () => {
    mailFault = "mail_rate_limited";
    const { id } = await fixture.submit(contextOf({}));
    await fixture.reject(id, "Sent later.");
    const row = () =>
      fixture.db
        .selectFrom("submission_notices")
        .selectAll()
        .where("event", "=", `rejected:${id}`)
        .executeTakeFirstOrThrow();
    // The claim of an attempt that runs is longer.
    await until(async () => {
      const { attempts, due_at } = await row();
      return attempts > 0 && due_at.getTime() < Date.now() + 30_000;
    });
    mailFault = undefined;
    await fixture.db
      .updateTable("submission_notices")
      .set({ due_at: new Date(0) })
      .where("sent_at", "is", null)
      .execute();
    await until(async () => (await row()).sent_at !== null);
    assert.equal(mails.filter(({ facts }) => facts["reason"] === "Sent later.").length, 1);
  });
  test("the end of a build is mailed once, with the image or the cause", async () => {
    for (const status of ["succeeded", "failed"] as const) {
      const one = await fixture.submit(contextOf({ status }));
      const { build_id = "" } = await fixture.approve(one.id, digestOf(one));
      await fixture.db
        .updateTable("image_builds")
        .set({
          status,
          error: status === "failed" ? "kaniko: no space" : null,
          finished_at: sql<Date>`now()`,
        })
        .where("id", "=", build_id)
        .execute();
      const wanted = `127.0.0.1:5000/user-uploads/${one.id}:latest`;
      await until(() => mails.some(({ facts }) => facts["image"] === wanted));
      const found = mails.filter(({ facts }) => facts["image"] === wanted);
      assert.deepEqual(
        found.map(({ kind, facts }) => [kind, facts["reason"]]),
        [[`build-${status}`, status === "failed" ? "kaniko: no space" : ""]],
      );
    }
  });
});

describe("what a reviewer sees", () => {
  const list = (id: string, wanted: Partial<InputOf<typeof submissions.listContextEntries>> = {}) =>
    fixture.gateway.call(submissions.listContextEntries, { id, limit: 100, offset: 0, ...wanted }, admin);
  const read = (id: string, path: string) =>
    fixture.gateway.call(submissions.readContextFile, { id, path }, admin);

  test("the entries beside those of the author's last approved context, and texts of both", async () => {
    const as = stranger;
    const old = await fixture.submit(
      contextOf({ "config/a.toml": "x = 1\n", "mods/old.jar": "1", "mods/same.jar": "s" }),
      as,
    );
    const alone = await list(old.id);
    assert.equal(alone.compared_with, undefined);
    assert.deepEqual(alone.counts, { same: 0, added: 4, changed: 0, removed: 0 });
    await fixture.approve(old.id, digestOf(old));
    const packed = contextOf(
      { "config/a.toml": "x = 2\n", "mods/new.jar": Buffer.from([0, 1, 2]), "mods/same.jar": "s" },
      [{ path: "link", type: "2", link: "mods/same.jar" }],
    );
    const now = await fixture.submit(packed, as);
    const all = await list(now.id);
    assert.equal(all.context_sha256, sha256Of(packed));
    assert.deepEqual(all.compared_with, {
      id: old.id,
      display_name: "My pack",
      context_sha256: old.context_sha256,
    });
    assert.deepEqual(all.counts, { same: 2, added: 2, changed: 1, removed: 1 });
    assert.deepEqual(
      all.entries.map(({ path, kind, change }) => `${change} ${kind} ${path}`),
      [
        "same file Dockerfile",
        "changed file config/a.toml",
        "added link link",
        "added file mods/new.jar",
        "removed file mods/old.jar",
        "same file mods/same.jar",
      ],
    );
    const root = await list(now.id, { folder: "", limit: 2, offset: 1 });
    assert.equal(root.total, 4);
    assert.deepEqual(
      root.entries.map(({ path }) => path),
      ["config", "link"],
    );
    assert.deepEqual((await list(now.id, { change: "removed" })).entries[0]?.path, "mods/old.jar");
    assert.deepEqual(await read(now.id, "config/a.toml"), {
      path: "config/a.toml",
      size: 6,
      text: "x = 2\n",
      previous: "x = 1\n",
    });
    assert.deepEqual(await read(now.id, "mods/new.jar"), { path: "mods/new.jar", size: 3 });
    assert.equal((await read(now.id, "mods/old.jar")).previous, "1");
    assert.equal(await faultOf(read(now.id, "nowhere")), "not_found");
    assert.equal(await faultOf(list("sub-x")), "not_found");
    // Of the approved one there is nothing earlier.
    assert.equal((await list(old.id)).compared_with, undefined);
  });
});

describe("lists", () => {
  test("search finds a part of id, author and name in any case; counts are of all", async () => {
    const { id } = await fixture.create("Näther [x]_y", stranger);
    const search = (query: string) =>
      fixture.gateway.call(submissions.list, { query, limit: 20, offset: 0 }, admin);
    for (const query of ["NÄTHER", "[x]_Y", id.slice(4, 20).toUpperCase()]) {
      const page = await search(query);
      assert.deepEqual([page.submissions.map((one) => one.id), page.total], [[id], 1], query);
      assert.ok(page.counts.pending_review >= 1 && page.counts.approved >= 1, query);
    }
    assert.equal((await search("%")).total, 0);
    assert.ok((await search("usr-2")).total >= 1);
    const approved = await fixture.gateway.call(
      submissions.list,
      { status: "approved", limit: 1, offset: 0 },
      admin,
    );
    assert.equal(approved.submissions.length, 1);
    assert.equal(approved.total, approved.counts.approved);
  });
});

describe("what nobody needs any more", () => {
  const age = (id: string) => {
    for (const file of filesOf(id)) utimesSync(join(fixture.folder, id, file), 1, 1);
  };

  test("the context of a rejected submission goes after its time, the submission stays", async () => {
    const { id } = await fixture.submit(contextOf({}));
    await fixture.reject(id);
    await fixture.db
      .updateTable("image_submissions")
      .set({ reviewed_at: sql<Date>`now() - interval '8 days'` })
      .where("id", "=", id)
      .execute();
    await until(() => {
      age(id);
      return filesOf(id).length === 0;
    });
    const kept = await fixture.find(id);
    assert.deepEqual([kept?.status, kept?.context_sha256], ["rejected", undefined]);
    assert.equal(await faultOf(fixture.download(id)), "not_found");
  });
  test("staged parts go after a day without another, an unfinished one of a killed process too", async () => {
    const { id } = await fixture.create();
    await fixture.putPart({ id, offset: 0 }, contextOf({}));
    await fixture.db
      .updateTable("submission_uploads")
      .set({ touched_at: sql<Date>`now() - interval '25 hours'` })
      .where("submission_id", "=", id)
      .execute();
    await until(async () => (await fixture.progress(id)).received === 0);
    await until(() => {
      age(id);
      return filesOf(id).length === 0;
    });
  });
  test("what a row names stays, however old it is", async () => {
    const kept = await fixture.submit(contextOf({ kept: "1" }));
    const { id } = await fixture.create();
    await fixture.putPart({ id, offset: 0 }, contextOf({}));
    age(kept.id);
    age(id);
    const gone = await fixture.submit(contextOf({}));
    await fixture.db.deleteFrom("image_submissions").where("id", "=", gone.id).execute();
    age(gone.id);
    await until(() => filesOf(gone.id).length === 0);
    assert.equal((await fixture.download(kept.id)).bytes.length > 0, true);
    assert.ok(digestOf(await fixture.complete(id)));
  });
  test("staff delete a submission of any state with its context", async () => {
    const one = await fixture.submit(contextOf({}));
    await fixture.approve(one.id, digestOf(one));
    const gone = await fixture.gateway.call(submissions.remove, { id: one.id }, admin);
    assert.equal(gone.status, "approved");
    assert.equal(await fixture.find(one.id), undefined);
    assert.deepEqual(filesOf(one.id), []);
    assert.equal((await buildsOf(one.id)).length, 1);
  });
  test("pending submissions of a closed account go, approved ones and those of others stay", async () => {
    const { principal } = stranger;
    assert.ok(principal?.kind === "account");
    const as = { ...stranger, principal: { ...principal, user_id: "usr-closed" } };
    const pending = await fixture.submit(contextOf({}), as);
    const approved = await fixture.submit(contextOf({ b: "1" }), as);
    await fixture.approve(approved.id, digestOf(approved));
    const others = await fixture.submit(contextOf({}));
    for (const by of ["disabled", "deleted"] as const) {
      const event = { user_id: "usr-closed", by, mc_uuids: [], at: new Date().toISOString() };
      const { subject, body } = outboxRow(accounts.accountRetired, event);
      if (by === "deleted") assert.ok(await fixture.find(pending.id));
      await fixture.identity.publish([{ id: `test-${by}`, subject, body: Buffer.from(body) }]);
    }
    await until(async () => (await fixture.find(pending.id)) === undefined);
    await until(() => filesOf(pending.id).length === 0);
    assert.ok(await fixture.find(approved.id));
    assert.ok(await fixture.find(others.id));
  });
});
