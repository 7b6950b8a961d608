import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { until } from "@svc/local-stack/testing";
import { type Answer, type Client, createClient, type Endpoint, type Json } from "./client.ts";

/** A test that every cluster must pass. */
export type Case = {
  name: string;
  /** Needs the controllers of workloads and namespaces. */
  controllers?: boolean;
  run(world: TestContext): Promise<void>;
};

/** The context of a case: a client, its own namespace and helpers for the API. */
export type TestContext = Client & {
  endpoint: Endpoint;
  namespace: string;
  /** `/api/v1/namespaces/<own>/<resource>`; a resource with a group is `group/version/resource`. */
  path(resource: string, ...rest: string[]): string;
  /** Sends a request and asserts its status. */
  expect(
    status: number,
    method: string,
    path: string,
    options?: Parameters<Client["call"]>[2],
  ): Promise<Json>;
  /** Repeats a request until its response passes the test, for at most `waitMs`. */
  eventually(path: string, holds: (answer: Answer) => boolean, waitMs?: number): Promise<Json>;
  patch(kind: keyof typeof patchTypes, path: string, body: unknown): Promise<Answer>;
};

const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

const namespacePrefix = "conf-";

/**
 * Runs `work` in its own namespace. The namespace is kept: a real cluster takes seconds to empty one, and would
 * delay the case that waits for a deleted namespace.
 */
export async function withTestContext(
  endpoint: Endpoint,
  work: (world: TestContext) => Promise<void>,
): Promise<void> {
  const client = createClient(endpoint);
  const namespace = `${namespacePrefix}${randomBytes(5).toString("hex")}`;
  const world = createTestContext(client, endpoint, namespace);
  try {
    await world.expect(201, "POST", "/api/v1/namespaces", { body: { metadata: { name: namespace } } });
    await work(world);
  } finally {
    client.close();
  }
}

/** Removes the namespaces of all cases, also of earlier runs. */
export async function removeNamespaces(endpoint: Endpoint): Promise<void> {
  const client = createClient(endpoint);
  try {
    const { body } = await client.call("GET", "/api/v1/namespaces");
    const own = namesOf(body).filter((name) => name.startsWith(namespacePrefix));
    for (const name of own) await client.call("DELETE", `/api/v1/namespaces/${name}`);
  } finally {
    client.close();
  }
}

function createTestContext(client: Client, endpoint: Endpoint, namespace: string): TestContext {
  const expect: TestContext["expect"] = async (status, method, path, options) => {
    const answer = await client.call(method, path, options);
    assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    ...client,
    endpoint,
    namespace,
    expect,
    path: (resource, ...rest) => resourcePath(namespace, resource, rest),
    patch: (kind, path, body) => client.call("PATCH", path, { body, type: patchTypes[kind] }),
    eventually: async (path, holds, waitMs = 60_000) => {
      const check = async () => {
        const answer = await client.call("GET", path);
        if (holds(answer)) return answer;
        throw new Error(`the answer is ${JSON.stringify(answer.body)}`);
      };
      return (await until(check, waitMs, path)).body;
    },
  };
}

function resourcePath(namespace: string, resource: string, rest: string[]): string {
  const [first = "", second, third] = resource.split("/");
  const base = third === undefined ? "/api/v1" : `/apis/${first}/${second}`;
  return [base, "namespaces", namespace, third ?? first, ...rest].join("/");
}

/** The names in a list. */
export function namesOf(list: Json): string[] {
  return list.items.map((item: Json) => item.metadata.name);
}

/** A config map to store. */
export function configMap(
  name: string,
  data: Record<string, string> = {},
  labels: Record<string, string> = {},
) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels }, data };
}

/** A pod that no node will run. */
export function pod(name: string, image = "example/none:1") {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { containers: [{ name: "main", image }] },
  };
}

/** The causes of a 422 as `field reason`, each once: some versions of Kubernetes repeat one. */
export function causesOf(status: Json): string[] {
  const causes: Json[] = status.details.causes;
  return [...new Set(causes.map(({ field, reason }) => `${field.replace(/^\./, "")} ${reason}`))];
}
