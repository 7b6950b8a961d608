import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nextPath } from "../sign-in/next-path.ts";
import { decideAccess } from "./access.ts";
import { findRoute, type Route } from "./routes.ts";

const person = { user_id: "u", username: "u", email: "", email_verified: false } as const;
const user = { ...person, role: "user", is_admin: false, is_owner: false } as const;
const admin = { ...person, role: "admin", is_admin: true, is_owner: false } as const;
const owner = { ...person, role: "owner", is_admin: true, is_owner: true } as const;

describe("access", () => {
  const open: Route = { path: "/a", access: "anyone" };
  const session: Route = { path: "/a", access: "session" };
  const staff: Route = { path: "/a", access: "staff", host: "operator" };
  const owners: Route = { path: "/a", access: "owner", host: "operator" };
  const cases = [
    ["an unknown path is not found", undefined, user, "player", "not-found"],
    ["an open page shows itself to everybody", open, null, "player", "show"],
    ["a page of a session sends a stranger to sign in", session, null, "player", "sign-in"],
    ["a page of a session shows itself to who is signed in", session, user, "player", "show"],
    ["a staff page is not on the panel's host", staff, admin, "player", "not-found"],
    ["a staff page sends a stranger on its host to sign in", staff, null, "operator", "sign-in"],
    ["a staff page is not found by a player", staff, user, "operator", "not-found"],
    ["a staff page shows itself to an admin", staff, admin, "operator", "show"],
    ["an owner's page is not found by an admin", owners, admin, "operator", "not-found"],
    ["an owner's page shows itself to the owner", owners, owner, "operator", "show"],
  ] as const;
  for (const [name, route, me, host, expected] of cases)
    test(name, () => assert.equal(decideAccess(route, { me, host }), expected));
});

test("a path without parameters comes before one with", () => {
  assert.equal(findRoute("/servers/new")?.path, "/servers/new");
  assert.equal(findRoute("/servers/survival/")?.path, "/servers/:name");
  assert.equal(findRoute("/servers/a/b/c"), undefined);
});

test("sign-in leads back to an own path only", () => {
  const cases = [
    ["/servers?q=a#b", "/servers?q=a#b"],
    ["//evil.example", "/"],
    ["/\\evil.example", "/"],
    ["https://evil.example/", "/"],
    ["javascript:alert(1)", "/"],
    ["/login?next=/login", "/"],
    ["/api/v1/me", "/"],
    ["/x/../login", "/"],
    ["servers", "/"],
    [undefined, "/"],
    [["/a"], "/"],
  ] as const;
  for (const [next, expected] of cases) assert.equal(nextPath(next), expected, String(next));
});
