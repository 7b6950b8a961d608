// Requests as an Ingress sends them: to one of two gateways.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Stack } from "../flow/stack.ts";
import { type RawRequest, type RawResponse, sendRequest } from "../security/raw-request.ts";
import type { Face, StackFixture } from "../security/stack-fixture.ts";

/** Connections that never were, as against those that ended in the middle. */
const wasRefused = (error: unknown) => (error as NodeJS.ErrnoException).code === "ECONNREFUSED";

/** Ports of both gateways of a face. */
export function gatewayPorts({ dataDir }: Stack, face: Face): [number, number] {
  const ports: Record<string, number> = JSON.parse(readFileSync(join(dataDir, "ports.json"), "utf8"));
  const [first, second] = [ports[`gateway-${face}`], ports[`gateway-${face}-2`]];
  assert.ok(first && second, `ports.json names two gateways of the ${face} face`);
  return [first, second];
}

/**
 * The same fixture with both gateways of each face in turn, as behind an Ingress: a connection that is refused goes to the
 * other one, and so does a read whose connection broke.
 */
export function behindBalancer(opened: StackFixture): StackFixture {
  let turn = 0;
  const ask = async (face: Face, question: RawRequest): Promise<RawResponse> => {
    const [one, other] = gatewayPorts(opened.stack, face);
    const [first, second] = turn++ % 2 === 0 ? [one, other] : [other, one];
    return sendRequest(first, question).catch((error: unknown) => {
      if (wasRefused(error) || (question.method ?? "GET") === "GET") return sendRequest(second, question);
      throw error;
    });
  };
  const withHeaders = (headers: RawRequest["headers"], question: RawRequest): RawRequest => ({
    ...question,
    headers: { ...headers, ...question.headers },
  });
  return {
    ...opened,
    asOwner: (question) =>
      ask("external", withHeaders({ host: opened.adminHost, cookie: opened.cookie() }, question)),
    asProxy: (question) => {
      const authorization = `Bearer ${opened.stack.file().tokens.velocity}`;
      return ask("internal", withHeaders({ host: "proxy", authorization }, question));
    },
  };
}
