// What a build promises to builds of other versions, as JSON: every request, event, view and bucket
// (docs/reference/mesh.md#versions).

import { z } from "zod";
import { buckets, contracts, events, views } from "../catalog.ts";
import type { AnyContract } from "../contract.ts";

export type Json = { [name: string]: unknown };

export type ReleasedContract = {
  input: Json;
  output: Json;
  faults: string[];
  callers: string[];
  onceById: boolean;
  idempotent: boolean;
  /** Method, path and face for HTTP callers. */
  http?: string;
};

export type Release = {
  /** Of the release, for people. */
  version: string;
  contracts: Record<string, ReleasedContract>;
  /** By what they are: `event lifecycle.server.renamed`, `view servers`, `bucket …`. */
  messages: Record<string, Json>;
};

function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _dialect, ...body } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    reused: "inline",
  });
  return body as Json;
}

function released(contract: AnyContract): ReleasedContract {
  const { http, faults, callers, onceById, idempotent } = contract;
  return {
    input: schemaOf(contract.input, "input"),
    output: schemaOf(contract.output, "output"),
    faults: [...faults].sort(),
    callers: [...callers].sort(),
    onceById,
    idempotent,
    ...(http && { http: `${http.method} ${http.path} on ${[...http.faces].sort().join(", ")}` }),
  };
}

const byName = <T>(entries: readonly (readonly [string, T])[]): Record<string, T> =>
  Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** The contracts of this build. */
export function snapshot(version: string): Release {
  return {
    version,
    contracts: byName(contracts.map((contract) => [contract.subject, released(contract)])),
    messages: byName([
      ...events.map(({ subject, data }) => [`event ${subject}`, schemaOf(data, "output")] as const),
      ...views.map(({ name, value }) => [`view ${name}`, schemaOf(value, "output")] as const),
      ...buckets.map(({ name, value }) => [`bucket ${name}`, schemaOf(value, "output")] as const),
    ]),
  };
}

/** One line for each contract, so that a change of one is a change of one line. `commit` is what the release was built from. */
export function snapshotText({ version, contracts: requests, messages }: Release, commit: string): string {
  const lines = (table: Record<string, unknown>) =>
    Object.entries(table)
      .map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
      .join(",\n");
  return `{
  "version": ${JSON.stringify(version)},
  "commit": ${JSON.stringify(commit)},
  "contracts": {
${lines(requests)}
  },
  "messages": {
${lines(messages)}
  }
}
`;
}
