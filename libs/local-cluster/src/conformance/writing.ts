import assert from "node:assert/strict";
import { type Case, causesOf, configMap, pod } from "./test-context.ts";

/** Creates, updates and deletes of built-in kinds. */
export const writingCases: Case[] = [
  {
    name: "a new object gets its uid, creation time and version from the server",
    run: async ({ expect, path }) => {
      const body = {
        ...configMap("a"),
        metadata: { name: "a", uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z" },
      };
      const made = await expect(201, "POST", path("configmaps"), { body });
      assert.match(made.metadata.uid, /^[0-9a-f]{8}-/);
      assert.ok(Date.now() - Date.parse(made.metadata.creationTimestamp) < 600_000);
      assert.match(made.metadata.resourceVersion, /^\d+$/);
      assert.deepEqual([made.kind, made.apiVersion], ["ConfigMap", "v1"]);
    },
  },
  {
    name: "generateName appends five characters, and each create makes another object",
    run: async ({ expect, path }) => {
      const body = { metadata: { generateName: "gen-" } };
      const [one, two] = [
        await expect(201, "POST", path("configmaps"), { body }),
        await expect(201, "POST", path("configmaps"), { body }),
      ];
      assert.match(one.metadata.name, /^gen-[a-z0-9]{5}$/);
      assert.notEqual(one.metadata.name, two.metadata.name);
    },
  },
  {
    name: "a second create of a name is 409 AlreadyExists",
    run: async ({ expect, path }) => {
      await expect(201, "POST", path("configmaps"), { body: configMap("a") });
      const refused = await expect(409, "POST", path("configmaps"), { body: configMap("a") });
      assert.deepEqual([refused.reason, refused.message], ["AlreadyExists", 'configmaps "a" already exists']);
    },
  },
  {
    name: "an update with a stale version is 409 Conflict, one without a version succeeds",
    run: async ({ expect, path }) => {
      const first = await expect(201, "POST", path("configmaps"), { body: configMap("a", { k: "1" }) });
      const second = await expect(200, "PUT", path("configmaps", "a"), {
        body: { ...first, data: { k: "2" } },
      });
      assert.ok(Number(second.metadata.resourceVersion) > Number(first.metadata.resourceVersion));
      const refused = await expect(409, "PUT", path("configmaps", "a"), {
        body: { ...first, data: { k: "3" } },
      });
      assert.equal(refused.reason, "Conflict");
      assert.match(
        refused.message,
        /the object has been modified; please apply your changes to the latest version/,
      );
      const blind = await expect(200, "PUT", path("configmaps", "a"), { body: configMap("a", { k: "4" }) });
      assert.equal(blind.metadata.uid, first.metadata.uid);
    },
  },
  {
    name: "an update that changes nothing keeps the version",
    run: async ({ expect, path }) => {
      const first = await expect(201, "POST", path("configmaps"), { body: configMap("a", { k: "1" }) });
      const same = await expect(200, "PUT", path("configmaps", "a"), { body: first });
      assert.equal(same.metadata.resourceVersion, first.metadata.resourceVersion);
    },
  },
  {
    name: "an update of a missing object is 404, one with another uid 409",
    run: async ({ expect, path }) => {
      await expect(404, "PUT", path("configmaps", "none"), { body: configMap("none") });
      const made = await expect(201, "POST", path("configmaps"), { body: configMap("a") });
      const other = { ...made, metadata: { ...made.metadata, uid: "00000000-0000-0000-0000-000000000000" } };
      assert.equal((await expect(409, "PUT", path("configmaps", "a"), { body: other })).reason, "Conflict");
    },
  },
  {
    name: "name, namespace and kind in a body must be those of the path",
    run: async ({ expect, path }) => {
      await expect(201, "POST", path("configmaps"), { body: configMap("a") });
      const renamed = await expect(400, "PUT", path("configmaps", "a"), { body: configMap("b") });
      assert.equal(renamed.message, "the name of the object (b) does not match the name on the URL (a)");
      const moved = { ...configMap("c"), metadata: { name: "c", namespace: "kube-system" } };
      const refused = await expect(400, "POST", path("configmaps"), { body: moved });
      assert.equal(
        refused.message,
        "the namespace of the provided object does not match the namespace sent on the request",
      );
      await expect(400, "POST", path("configmaps"), { body: pod("p") });
    },
  },
  {
    name: "bad names and missing names are 422 with their field",
    run: async ({ expect, path }) => {
      const bad = await expect(422, "POST", path("configmaps"), { body: configMap("A_b") });
      assert.deepEqual([bad.reason, causesOf(bad)], ["Invalid", ["metadata.name FieldValueInvalid"]]);
      const none = await expect(422, "POST", path("configmaps"), { body: { metadata: {} } });
      assert.deepEqual(causesOf(none), ["metadata.name FieldValueRequired"]);
      const label = await expect(422, "POST", path("configmaps"), {
        body: configMap("a", {}, { k: "no good" }),
      });
      assert.deepEqual(causesOf(label), ["metadata.labels FieldValueInvalid"]);
    },
  },
  {
    name: "bodies of the wrong type or form are 415 and 400, a missing namespace is 404",
    run: async ({ expect, path }) => {
      const odd = await expect(415, "POST", path("configmaps"), { body: "{}", type: "text/plain" });
      assert.equal(odd.reason, "UnsupportedMediaType");
      assert.equal(
        (await expect(400, "POST", path("configmaps"), { body: '{"metadata":' })).reason,
        "BadRequest",
      );
      const typed = { ...configMap("a"), data: { k: 1 } };
      assert.equal((await expect(400, "POST", path("configmaps"), { body: typed })).reason, "BadRequest");
      const lost = await expect(404, "POST", "/api/v1/namespaces/no-such-one/configmaps", {
        body: configMap("a"),
      });
      assert.equal(lost.message, 'namespaces "no-such-one" not found');
    },
  },
  {
    name: "a dry run returns the result and stores nothing",
    run: async ({ expect, path }) => {
      const made = await expect(201, "POST", `${path("configmaps")}?dryRun=All`, { body: configMap("a") });
      assert.ok(made.metadata.uid);
      await expect(404, "GET", path("configmaps", "a"));
      await expect(201, "POST", path("configmaps"), { body: configMap("a") });
      await expect(200, "DELETE", `${path("configmaps", "a")}?dryRun=All`);
      await expect(200, "GET", path("configmaps", "a"));
    },
  },
  {
    name: "a delete checks its preconditions and returns Success with the uid",
    run: async ({ expect, path }) => {
      const made = await expect(201, "POST", path("configmaps"), { body: configMap("a") });
      const wrong = { preconditions: { uid: "00000000-0000-0000-0000-000000000000" } };
      assert.equal(
        (await expect(409, "DELETE", path("configmaps", "a"), { body: wrong })).reason,
        "Conflict",
      );
      const right = { preconditions: { uid: made.metadata.uid } };
      const gone = await expect(200, "DELETE", path("configmaps", "a"), { body: right });
      assert.deepEqual([gone.status, gone.details.uid], ["Success", made.metadata.uid]);
      await expect(404, "DELETE", path("configmaps", "a"));
    },
  },
];
