// Every operation of identity through the faces: callers and inputs that must be refused.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type FaultName, faults, type Operation, operations } from "@svc/proto";
import { questionOf } from "./foreign-hosts.ts";
import { adminHost, type GatewayFixture } from "./gateway-fixture.ts";
import { assertRefused, assertSecured, type RawRequest, type RawResponse } from "./raw-request.ts";

const ofIdentity = operations.filter(({ owner }) => owner === "identity");
const hasBody = ({ http }: Operation) => http.method !== "GET" && http.kind === "json";
const jsonHeader = { "content-type": "application/json" };

export function checkEveryInput(gateways: () => GatewayFixture): void {
  let owner: string | undefined;
  /** Asks as somebody who may: the proxy, or an owner who has just proved himself. */
  const asAllowed = async (operation: Operation, question: RawRequest): Promise<RawResponse> => {
    if (operation.http.faces.includes("internal")) return gateways().asProxy(question);
    const email = "owner-of-input@example.org";
    owner ??= (await gateways().identity.person({ role: "owner", email, emailVerified: true })).cookie;
    const headers = { host: adminHost, ...question.headers };
    return gateways().visit({ ...question, headers, cookie: `svc_session=${owner}` });
  };
  const mayBeAsked = ofIdentity.filter(
    ({ http }) => http.errors !== "empty" && http.session !== "ends" && http.tier !== "service",
  );
  const byProxy = ofIdentity.filter(
    ({ http }) => http.tier === "service" && http.callers.includes("velocity") && http.errors !== "empty",
  );

  test("without a credential every operation that requires one is 401", async () => {
    const closed = ofIdentity.filter(({ http }) => http.tier !== "public");
    assert.ok(closed.length > 40, `${closed.length} operations`);
    for (const operation of closed) {
      const isInternal = operation.http.faces.includes("internal");
      const question = questionOf(operation);
      const reply = isInternal
        ? await gateways().asProxy({
            ...question,
            headers: { ...question.headers, authorization: "Bearer x" },
          })
        : await gateways().visit(question);
      assertRefused(reply, { status: 401, code: "unauthorized", says: /./ }, operation.subject);
    }
  });

  test("an unknown field, a body that is not an object and invalid JSON are 400 everywhere", async () => {
    for (const operation of [...mayBeAsked, ...byProxy].filter((one) => hasBody(one) && one.body)) {
      const { path, method } = questionOf(operation);
      const post = (text: string) =>
        asAllowed(operation, { path, text, headers: jsonHeader, ...(method && { method }) });
      for (const text of [
        '{"no_such_field":1}',
        '{"__proto__":{"role":"owner"}}',
        "[]",
        '"x"',
        "{",
        "null",
      ]) {
        const about = `${operation.subject} ${text}`;
        assertRefused(await post(text), { status: 400, code: "bad_request", says: /./ }, about);
      }
    }
  });

  test("a body of another type is 415 everywhere, and an unknown query parameter is 400", async () => {
    for (const operation of [...mayBeAsked, ...byProxy]) {
      const { path, method } = questionOf(operation);
      if (hasBody(operation) && operation.body) {
        const question = { path, text: "a=b", headers: { "content-type": "text/plain" } };
        const reply = await asAllowed(operation, { ...question, ...(method && { method }) });
        assertRefused(reply, { status: 415, code: "unsupported_media_type", says: /./ }, operation.subject);
      }
      const asked = await asAllowed(operation, { ...questionOf(operation), path: `${path}?no_such=1` });
      assertRefused(asked, { status: 400, code: "bad_request", says: /./ }, operation.subject);
    }
  });

  test("fields of the wrong kind are refused with a fault that the operation documents, never with 500", async () => {
    const surprises: string[] = [];
    const wrong = [null, 5, -1, true, "", "\u0000", "a".repeat(70_000), [], {}, "\ud800", "../../x"];
    for (const operation of [...mayBeAsked, ...byProxy].filter(({ body }) => body !== undefined)) {
      const { path, method } = questionOf(operation);
      const fields = Object.keys(operation.body?.shape ?? {});
      for (const value of wrong) {
        const json = Object.fromEntries(fields.map((field) => [field, value]));
        const reply = await asAllowed(operation, { path, json, ...(method && { method }) });
        surprises.push(...surpriseOf(operation, reply, JSON.stringify(value).slice(0, 40)));
      }
    }
    assert.deepEqual(surprises, []);
  });

  test("path parameters of any shape are refused with a documented fault", async () => {
    const surprises: string[] = [];
    const shapes = ["%00", "..%2f..", "%F0%9F%98%80", "'--", "*", ">", "a".repeat(200), "$SYS", "%20"];
    for (const operation of [...mayBeAsked, ...byProxy].filter(({ http }) => http.path.includes("{"))) {
      for (const shape of shapes) {
        const path = operation.http.path.replaceAll(/\{[^}]+\}/g, shape);
        const reply = await asAllowed(operation, { ...questionOf(operation), path });
        surprises.push(...surpriseOf(operation, reply, path));
      }
    }
    assert.deepEqual(surprises, []);
  });
}

const everywhere: readonly FaultName[] = ["bad_request", "rate_limited"];

/** What an answer is that the operation does not document; nothing for one that it does. */
function surpriseOf(operation: Operation, reply: RawResponse, about: string): string[] {
  const said = `${operation.subject} ${about}: ${reply.status} ${reply.text}`;
  assertSecured(reply, said);
  if (reply.status < 300) return [];
  const { code } = (JSON.parse(reply.text) as { error: { code: string } }).error;
  const more: FaultName[] = operation.http.tier === "public" ? ["unauthorized"] : [];
  const allowed = [...everywhere, ...more, ...operation.faults].map((name: FaultName) => faults[name]);
  return allowed.some((fault) => fault.status === reply.status && fault.code === code) ? [] : [said];
}
