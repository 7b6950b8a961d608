// Schemas that the description names, and the JSON Schema of everything else around them.

import { z } from "zod";
import { Image } from "../builds/image.ts";
import { SessionView, SetupState } from "../identity/account.ts";
import { ExecutionNode } from "../lifecycle/node.ts";
import { Resources, WakeAccepted } from "../lifecycle/server.ts";
import {
  AutostartPolicy,
  DesiredState,
  FleetServer,
  Phase,
  PublicServerInfo,
  RetireState,
  ServerInfo,
} from "../lifecycle/server-info.ts";
import { Role } from "../role.ts";

export type Json = Record<string, unknown>;

const named: Readonly<Record<string, z.ZodType>> = {
  AutostartPolicy,
  DesiredState,
  ExecutionNode,
  FleetServer,
  Image,
  Phase,
  PublicServerInfo,
  Resources,
  RetireState,
  Role,
  ServerInfo,
  SessionView,
  SetupState,
  WakeAccepted,
};

/** docs/reference/http.md#errors. */
const errorEnvelope: Json = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "string", description: "Stable and machine-readable." },
        message: { type: "string", description: "Says what the caller can do." },
        request_id: { type: "string", description: "As in X-Request-Id and in the server's log." },
      },
    },
  },
};

export type Components = {
  /** JSON Schema of one side of a contract; named schemas become references. */
  schemaOf: (schema: z.ZodType, side: "input" | "output") => Json;
  /** All schemas that were referred to, by name in order. */
  all: () => Json;
};

/** Collects the named schemas that a document refers to. */
export function createComponents(): Components {
  for (const [id, schema] of Object.entries(named)) z.globalRegistry.add(schema, { id });
  const used = new Map<string, unknown>([["Error", errorEnvelope]]);
  return {
    schemaOf: (schema, side) => {
      const {
        $schema: _dialect,
        $defs,
        ...body
      } = z.toJSONSchema(schema, {
        io: side,
        unrepresentable: "any",
      }) as Json & { $defs?: Json };
      for (const [name, definition] of Object.entries($defs ?? {})) used.set(name, pointed(definition));
      return pointed(body) as Json;
    },
    all: () => Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

// zod gathers named schemas under $defs of each document; here they live in one place.
function pointed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(pointed);
  if (typeof node !== "object" || node === null) return node;
  const entries = Object.entries(node).filter(([key]) => key !== "id");
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (key === "$ref" && typeof value === "string")
        return [key, value.replace("#/$defs/", "#/components/schemas/")];
      return [key, pointed(value)];
    }),
  );
}
