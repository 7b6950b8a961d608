// Every external operation × what an API token was given (docs/reference/api-tokens.md#reach).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Fault, isFault, openApiDocument, operations, type Right, rights } from "@svc/proto";
import { checkServer, checkToken, type LiveToken, tokenPrincipal } from "./api-token.ts";

const external = operations.filter(({ http }) => http.faces.includes("external"));
const open = external.filter(({ http }) => http.rights !== undefined);
const tokenWith = (given: readonly Right[], servers?: string[]): LiveToken => ({
  state: "live",
  ...{ user_id: "usr-1", username: "ada", setup: false, expires_at: "2030-01-01T00:00:00.000Z" },
  grant: { id: "tok", rights: [...given], ...(servers && { servers }) },
});

/** What becomes of a request of such a token about the server `alpha`. */
function outcome(operation: (typeof external)[number], token: LiveToken): string {
  const { http, params } = operation;
  try {
    checkToken(http, token, "player");
    checkServer(http, tokenPrincipal(token, "hash"), "name" in params.shape ? { name: "alpha" } : {});
    return "allowed";
  } catch (error) {
    if (!isFault(error)) throw error;
    return error.fault;
  }
}

/** Operations of people about servers that take a session alone. */
const sessionsOnly = [
  "lifecycle.announcement.list-shown",
  "lifecycle.group.cancel",
  "lifecycle.group.change",
  "lifecycle.group.create",
  "lifecycle.group.list",
  "lifecycle.group.read",
  "lifecycle.group.remove",
  "lifecycle.group.start",
  "lifecycle.group.stop",
  "lifecycle.member.accept",
  "lifecycle.member.change",
  "lifecycle.member.decline",
  "lifecycle.member.invite",
  "lifecycle.member.leave",
  "lifecycle.member.list",
  "lifecycle.member.list-offers",
  "lifecycle.member.look",
  "lifecycle.member.remove",
  "lifecycle.member.revoke",
  "lifecycle.ownership.cancel-retirement",
  "lifecycle.ownership.claim",
  "lifecycle.ownership.read-my-quota",
  "lifecycle.ownership.retire",
  "lifecycle.server-filter.list",
  "lifecycle.server-filter.remove",
  "lifecycle.server-filter.save",
  "lifecycle.server-template.list-offered",
  "lifecycle.server.create-own",
  "lifecycle.status-page.read",
  "lifecycle.status-page.write",
];

/** Of identity, which tells a token about itself; it changes nothing and names nobody. */
const itself = "identity.api-token.read-own";

/** No server in their path: what they leave out is shown where their owner, or the rows of the view, are tested. */
const byOwner = [
  itself,
  "lifecycle.change.watch",
  "lifecycle.known-player.change-access",
  "lifecycle.known-player.list",
  "lifecycle.known-player.read",
  "lifecycle.known-player.read-access",
  "lifecycle.ownership.list-mine",
  "storage.backup.edit",
  "storage.backup.expire",
  "storage.backup.list",
  "storage.backup.list-changes",
  "storage.backup.list-files",
  "storage.export.download",
  "storage.export.read-status",
];

describe("the operations that take API tokens", () => {
  test("are of the tier app, on the external face alone, and none is of identity or builds but one", () => {
    assert.ok(open.some(({ subject }) => subject === itself));
    for (const { subject, http, owner } of open.filter((one) => one.subject !== itself)) {
      assert.deepEqual([http.tier, [...http.faces]], ["app", ["external"]], subject);
      assert.match(owner, /^(lifecycle|storage)$/, subject);
      assert.doesNotMatch(http.path, /\/(account|auth|users|settings|audit|platform|images)\b/, subject);
    }
  });
  test("are all of the tier app about servers but those that are listed", () => {
    const closed = external.filter(
      ({ http, owner }) => http.tier === "app" && !http.rights && /^(lifecycle|storage)$/.test(owner),
    );
    assert.deepEqual(closed.map(({ subject }) => subject).sort(), sessionsOnly);
  });
  test("name a server in their path or are listed as checked by their owner", () => {
    const unnamed = open.filter(({ params }) => !("name" in params.shape)).map(({ subject }) => subject);
    const given = open.filter(({ http }) => http.serversBy === "owner").map(({ subject }) => subject);
    assert.deepEqual([unnamed.sort(), given.sort()], [byOwner, byOwner]);
    for (const { http, subject } of open.filter(({ http }) => http.serversBy === undefined))
      assert.match(http.path, /^\/api\/v1\/(me\/)?servers\/\{name\}/, subject);
  });
  test("need a right each, but for the token itself and downloads whose owner looks at what is in them", () => {
    const free = open.filter(({ http }) => http.rights?.length === 0).map(({ subject }) => subject);
    assert.deepEqual(free.sort(), [itself, "storage.export.download", "storage.export.read-status"]);
  });
  test("have the scheme apiToken in the description, and no other has", () => {
    const { paths } = openApiDocument() as { paths: Record<string, Record<string, { security: object[] }>> };
    const shown = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { security }]) => security.some((scheme) => "apiToken" in scheme))
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    );
    assert.deepEqual(shown.sort(), open.map(({ http }) => `${http.method} ${http.path}`).sort());
  });
});

for (const operation of external) {
  const { subject, http } = operation;
  if (http.tier === "public") continue;
  const needed = http.rights;
  test(`${subject} is ${needed ? `open to a token with ${needed.join(", ") || "any right"}` : "closed to tokens"}`, () => {
    if (!needed) {
      assert.equal(outcome(operation, tokenWith(rights)), "token_not_accepted");
      return;
    }
    assert.equal(outcome(operation, tokenWith(needed)), "allowed");
    for (const missing of needed) {
      const others = rights.filter((right) => right !== missing);
      assert.equal(outcome(operation, tokenWith(others)), "token_scope", `without ${missing}`);
    }
    const isNamed = "name" in operation.params.shape;
    assert.equal(outcome(operation, tokenWith(rights, ["alpha"])), "allowed");
    assert.equal(outcome(operation, tokenWith(rights, ["beta"])), isNamed ? "token_scope" : "allowed");
    assert.throws(() => checkToken(http, tokenWith(rights), "operator"), Fault);
  });
}
