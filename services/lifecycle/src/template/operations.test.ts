// Templates as a gateway asks for them, of two replicas, and the servers that are made of them.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { account, faultOf, staff, until } from "@svc/mesh/testing";
import { serverTemplates as contracts, type InputOf, ownership } from "@svc/proto";
import { annotation, servers as resource } from "../cluster/resource.ts";
import { noLimits } from "../testing/fake-services.ts";
import { type Fixture, namespace, openFixture } from "../testing/fixture.ts";
import { createServerOperations, noImage, operationSettings } from "../testing/server-operations.ts";

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
  await Promise.all([fixture.start(operationSettings), fixture.start(operationSettings)]);
});
after(() => fixture.close());

const { create, getServer, sql, untilAudited } = createServerOperations(() => fixture);
type Given = Partial<InputOf<typeof contracts.save>> & { name: string };
const settings: contracts.TemplateSettings = {
  ...{ image: noImage, memory: "1Gi", storage: "3Gi", autostartPolicy: "public", idleStopSeconds: 900 },
  ...{ javaFlags: ["-XX:+UseZGC"], env: [{ name: "MODE", value: "event" }] },
  tags: [{ name: "event", colour: "blue" }],
};
const save = (given: Given, who: typeof staff = staff) =>
  fixture.external.call(
    contracts.save,
    { ...{ title: "", description: "", offered: true, settings, revision: 0 }, ...given },
    who,
  );
const list = () => fixture.external.call(contracts.list, {}, staff);
const read = (name: string) => fixture.external.call(contracts.read, { name }, staff);
const remove = (name: string) => fixture.external.call(contracts.remove, { name }, staff);
const offered = (who: typeof staff) => fixture.external.call(contracts.listOffered, {}, who);
type Own = Partial<InputOf<typeof contracts.createOwn>> & { name: string };
const make = (input: Own, who: typeof staff) =>
  fixture.external.call(contracts.createOwn, { template: "event", ...input }, who);
const rowOf = async (name: string) =>
  (
    await sql(
      "select owner_id, created_by, offered, cached_memory_mb from lifecycle.servers where name = $1",
      [name],
    )
  )[0];

describe("a template", () => {
  test("is made, read, changed with its revision, and deleted; each is audited without what its variables say", async () => {
    const made = await save({ name: "kept", title: "Kept" });
    assert.deepEqual([made.revision, made.title, made.settings], [1, "Kept", settings]);
    assert.deepEqual(await read("kept"), made);
    const changed = await save({ name: "kept", revision: 1, settings: { memory: "2Gi" } });
    assert.deepEqual([changed.revision, changed.title, changed.settings], [2, "kept", { memory: "2Gi" }]);
    await remove("kept");
    await remove("kept");
    assert.equal(await faultOf(read("kept")), "template_not_found");
    const entries = (await fixture.audits()).filter(({ payload }) => payload["template"] === "kept");
    assert.deepEqual(
      entries.map(({ action, payload }) => [action, payload["revision"]]),
      [
        ["template.save", 1],
        ["template.save", 2],
        ["template.delete", undefined],
      ],
    );
    assert.doesNotMatch(JSON.stringify(entries), /MODE/);
  });

  test("that is changed by two at once keeps one change, and the other is told", async () => {
    await save({ name: "raced" });
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, n) => faultOf(save({ name: "raced", revision: 1, title: `By ${n}` }))),
    );
    assert.deepEqual(
      outcomes.filter((outcome) => outcome !== "template_changed"),
      ["none"],
    );
    assert.equal((await read("raced")).revision, 2);
    await remove("raced");
  });

  test("of one name is made once, whoever comes at once, and a repeat is the same one", async () => {
    const titles = ["A", "A", "A", "B", "B"];
    const outcomes = await Promise.all(titles.map((title) => faultOf(save({ name: "twice", title }))));
    const { title, revision } = await read("twice");
    assert.equal(revision, 1);
    titles.forEach((one, at) => {
      assert.equal(outcomes[at], one === title ? "none" : "template_exists");
    });
    await remove("twice");
    assert.equal(await faultOf(save({ name: "twice", revision: 1 })), "template_not_found");
  });

  const bad: readonly (readonly [fact: string, given: Given, fault: string])[] = [
    ["with a bad name", { name: "Not one" }, "bad_template"],
    ["with a digest", { name: "bad", settings: { image: `a:1@sha256:${"0".repeat(64)}` } }, "bad_template"],
    ["with a word that no template knows", { name: "bad", settings: { rcon: {} } as object }, "bad_request"],
    ["with an unknown policy", { name: "bad", settings: { autostartPolicy: "all" as never } }, "bad_request"],
    [
      "with one flag more than there may be",
      { name: "bad", settings: { javaFlags: Array.from({ length: 51 }, () => "-X") } },
      "bad_request",
    ],
  ];
  for (const [fact, given, fault] of bad)
    test(`${fact} is refused as ${fault} and not kept`, async () => {
      assert.equal(await faultOf(save(given)), fault);
      assert.equal((await list()).templates.length, 0);
    });

  test("one more than there may be is refused, of many at once, and one that is there can be changed", async () => {
    await sql(
      `insert into lifecycle.server_templates
       select 'full-' || n, 'Full', '', false, '{}', 1, 'ada', now() from generate_series(3, $1::int) n`,
      [contracts.mostTemplates],
    );
    const names = ["last-1", "last-2", "last-3", "last-4", "last-5", "last-6"];
    const outcomes = await Promise.all(names.map((name) => faultOf(save({ name }))));
    assert.equal(outcomes.filter((outcome) => outcome === "template_limit").length, 4, outcomes.join());
    const { templates, limit } = await list();
    assert.equal(templates.length, limit);
    assert.equal((await save({ name: "full-3", title: "New", revision: 1 })).revision, 2);
    await sql("delete from lifecycle.server_templates");
  });

  test("is drafted from a server, without its variables, and nothing is saved by that", async () => {
    await create({ name: "model", memory: "1Gi", idleStopSeconds: 0, autostartPolicy: "public" });
    const merge = { spec: { env: [{ name: "TOKEN", value: "x" }] } };
    await fixture.kube.patch(resource, { name: "model", namespace }, { merge } as never);
    await until(
      async () =>
        (await fixture.external.call(contracts.draft, { name: "model" }, staff)).left_out.length > 0,
    );
    assert.deepEqual(await fixture.external.call(contracts.draft, { name: "model" }, staff), {
      settings: {
        ...{ image: noImage, memory: "1Gi", storage: "8Gi" },
        ...{ autostartPolicy: "public", idleStopSeconds: 0 },
      },
      left_out: ["env"],
    });
    assert.equal((await list()).templates.length, 0);
    assert.equal(
      await faultOf(fixture.external.call(contracts.draft, { name: "nowhere" }, staff)),
      "not_found",
    );
  });
});

describe("a server of a template", () => {
  before(async () => void (await save({ name: "event", title: "Event night" })));

  test("is made by an account, which owns it, and has what the template says", async () => {
    const ada = account("usr-ada");
    const made = await make({ name: "adas", displayName: "Ada's" }, ada);
    assert.deepEqual(made, { name: "adas", subdomain: "adas", desiredState: "Stopped" });
    const { spec } = await getServer("adas");
    assert.deepEqual(
      [spec.image, spec.autostartPolicy, spec.storage, spec.javaFlags, spec.env, spec.tags, spec.displayName],
      [noImage, "public", { size: "3Gi" }, settings.javaFlags, settings.env, settings.tags, "Ada's"],
    );
    assert.deepEqual(spec.idle, { autoStopEnabled: true, emptySecondsBeforeStop: 900 });
    assert.deepEqual(await rowOf("adas"), {
      ...{ owner_id: "usr-ada", created_by: "usr-ada", offered: false, cached_memory_mb: 1_024 },
    });
    await untilAudited("server.create", "adas");
    const entry = (await fixture.audits()).find(({ server_name }) => server_name === "adas");
    assert.equal(entry?.payload["template"], "event");
  });

  test("stays as it is when the template is changed and deleted", async () => {
    await save({ name: "short" });
    await make({ name: "early", template: "short" }, account("usr-early"));
    const { spec } = await getServer("early");
    await save({ name: "short", revision: 1, settings: { ...settings, memory: "4Gi", env: [] } });
    await remove("short");
    assert.deepEqual((await getServer("early")).spec, spec);
  });

  test("has what staff ask for before what the template says", async () => {
    await create({ name: "staffs", template: "event", memory: "2Gi", image: undefined as never });
    const { spec } = await getServer("staffs");
    assert.deepEqual(
      [spec.resources?.limits, spec.storage, spec.image],
      [{ memory: "2Gi" }, { size: "3Gi" }, noImage],
    );
    assert.deepEqual(await rowOf("staffs"), {
      ...{ owner_id: null, created_by: null, offered: true, cached_memory_mb: 2_048 },
    });
  });

  test("is whole although the template is deleted while it is made", async () => {
    await save({ name: "leaving" });
    const { onLimits } = fixture.people;
    fixture.people.onLimits = async () => void (await remove("leaving"));
    await make({ name: "caught", template: "leaving" }, account("usr-caught"));
    fixture.people.onLimits = onLimits;
    assert.deepEqual((await getServer("caught")).spec.tags, settings.tags);
    assert.equal(
      await faultOf(make({ name: "late", template: "leaving" }, account("usr-caught"))),
      "template_not_found",
    );
  });

  test("is refused, with nothing left, where the template is not offered or not there", async () => {
    await save({ name: "staff-only", offered: false });
    const eve = account("usr-eve");
    for (const template of ["staff-only", "nowhere"])
      assert.equal(await faultOf(make({ name: "eves", template }, eve)), "template_not_found");
    assert.deepEqual(
      (await offered(eve)).templates.map(({ name }) => name),
      ["event"],
    );
    assert.equal(await faultOf(create({ name: "eves", template: "nowhere" })), "template_not_found");
    assert.equal(await rowOf("eves"), undefined);
    await create({ name: "by-staff", template: "staff-only" });
    await remove("staff-only");
  });

  const refusals: readonly (readonly [fact: string, input: Own, fault: string])[] = [
    ["a name with a capital", { name: "Upper" }, "bad_name"],
    ["a reserved name", { name: "lobby" }, "bad_name"],
    ["a subdomain with a dot", { name: "fine1", subdomain: "a.b" }, "bad_subdomain"],
    ["a display name with a line break", { name: "fine1", displayName: "a\nb" }, "bad_display_name"],
    ["the name of somebody's server", { name: "adas", subdomain: "other" }, "name_taken"],
    ["the address of somebody's server", { name: "fine1", subdomain: "adas" }, "subdomain_taken"],
  ];
  for (const [fact, input, fault] of refusals)
    test(`${fact} is refused as ${fault}`, async () => {
      assert.equal(await faultOf(make(input, account("usr-fred"))), fault);
      assert.equal(await rowOf("fine1"), undefined);
    });
});

describe("an image that is no longer allowed", () => {
  test("refuses a server, and both lists say so", async () => {
    await save({ name: "old-image", settings: { image: "elsewhere/image:1" } });
    const gus = account("usr-gus");
    assert.equal(await faultOf(make({ name: "guss", template: "old-image" }, gus)), "image_not_whitelisted");
    assert.equal(await rowOf("guss"), undefined);
    const problems = async () => [
      (await list()).templates.find(({ name }) => name === "old-image")?.problem,
      (await offered(gus)).templates.find(({ name }) => name === "old-image")?.problem,
    ];
    assert.deepEqual(await problems(), ["image_not_whitelisted", "image_not_whitelisted"]);
    fixture.library.whitelist.push("elsewhere/image:1");
    assert.deepEqual(await problems(), [undefined, undefined]);
    fixture.library.isAway = true;
    assert.deepEqual(await problems(), ["image_unchecked", "image_unchecked"]);
    assert.equal(await faultOf(make({ name: "guss", template: "old-image" }, gus)), "registry_unavailable");
    fixture.library.isAway = false;
    await remove("old-image");
  });
});

describe("what an account may make", () => {
  test("ends at the limit, of many at once, whatever it gave up, and begins again when staff delete one", async () => {
    const hal = account("usr-hal");
    assert.equal((await offered(hal)).left, 3);
    const names = ["hals-1", "hals-2", "hals-3", "hals-4", "hals-5"];
    const outcomes = await Promise.all(names.map((name) => faultOf(make({ name }, hal))));
    assert.equal(outcomes.filter((outcome) => outcome === "creation_limit").length, 2);
    const made = names.filter((_, at) => outcomes[at] === "none");
    assert.equal(made.length, 3);
    await sql("update lifecycle.servers set owner_id = null where name = $1", [made[0]]);
    const { templates, left } = await offered(hal);
    assert.deepEqual([left, templates[0]?.problem], [0, "creation_limit"]);
    assert.equal(await faultOf(make({ name: "hals-6" }, hal)), "creation_limit");
    await sql("update lifecycle.servers set deleted_at = now() where name = $1", [made[0]]);
    assert.equal((await offered(hal)).left, 1);
    await make({ name: "hals-6" }, hal);
  });

  test("ends at its quota, and the list says which", async () => {
    const ida = account("usr-ida");
    fixture.people.limits.set("usr-ida", { ...noLimits, max_memory_mb: 1_023 });
    assert.equal(await faultOf(make({ name: "idas" }, ida)), "quota_exceeded");
    assert.equal(await rowOf("idas"), undefined);
    const [offer] = (await offered(ida)).templates;
    assert.equal(offer?.problem, "quota_exceeded");
    assert.match(offer?.detail ?? "", /memory is 1023 MB/);
  });

  test("is nothing while its limits can't be read", async () => {
    fixture.people.isAway = true;
    assert.equal(await faultOf(make({ name: "jans" }, account("usr-jan"))), "unavailable");
    assert.equal(await faultOf(offered(account("usr-jan"))), "unavailable");
    fixture.people.isAway = false;
    assert.equal(await rowOf("jans"), undefined);
  });
});

test("an account whose creation died before its rows were written gets the server, with what it costs, once", async () => {
  const object = (name: string, createdBy: string) =>
    fixture.kube.create(resource, {
      ...{ apiVersion: "svc.internal/v1alpha1", kind: "MinecraftServer" },
      metadata: {
        ...{ name, namespace },
        annotations: { [annotation.offered]: "false", [annotation.createdBy]: createdBy },
      },
      spec: {
        ...{ subdomain: name, image: noImage, desiredState: "Stopped" },
        resources: { limits: { memory: "1Gi" } },
      },
    });
  await object("orphan", "usr-kim");
  await until(async () => (await rowOf("orphan")) !== undefined, 20_000);
  assert.deepEqual(await rowOf("orphan"), {
    ...{ owner_id: "usr-kim", created_by: "usr-kim", offered: false, cached_memory_mb: 1_024 },
  });
  const events = await sql(
    "select subject from lifecycle.outbox where subject like 'svc.evt.lifecycle.server.%.orphan'",
  );
  assert.deepEqual(
    events.map(({ subject }) => subject).filter((subject) => String(subject).includes("claimed")),
    ["svc.evt.lifecycle.server.claimed.orphan"],
  );
  assert.equal((await offered(account("usr-kim"))).left, 2);
  // It is its own from then on: the repeat of the request says that the server is there.
  assert.equal(await faultOf(make({ name: "orphan" }, account("usr-kim"))), "name_taken");
});

test("an account that is deleted or merged takes its servers along in what it has made", async () => {
  await make({ name: "lous" }, account("usr-lou"));
  await fixture.identity.call(ownership.transferAccount, {
    transfer_id: "mig-lou",
    from_user_id: "usr-lou",
    to_user_id: "usr-max",
    limits: noLimits,
  });
  assert.equal((await rowOf("lous"))?.["created_by"], "usr-max");
  await fixture.identity.call(ownership.releaseAccount, { user_id: "usr-max" });
  assert.equal((await rowOf("lous"))?.["created_by"], null);
});
