// The OpenAPI 3.1 description, derived from the contracts (docs/reference/http.md#version).

import type { z } from "zod";
import { type Operation, operations, processOperations } from "../catalog.ts";
import { type HttpBinding, headerOf, type ProcessOperation, pathsOf } from "../contract.ts";
import { apiVersion } from "../version.ts";
import { type Components, createComponents, type Json } from "./components.ts";
import { responsesOf } from "./responses.ts";

/** The whole description as plain JSON. The same contracts always give the same document. */
export function openApiDocument(): Json {
  const components = createComponents();
  const paths: Record<string, Json> = {};
  const add = (http: HttpBinding, item: Json) => {
    for (const [index, path] of pathsOf(http).entries()) {
      // An id names one operation of one path.
      const id = index === 0 ? item["operationId"] : `${item["operationId"]}${index + 1}`;
      paths[path] = { ...paths[path], [http.method.toLowerCase()]: { ...item, operationId: id } };
    }
  };
  for (const operation of processOperations) add(operation.http, describeProcess(operation));
  for (const contract of operations) add(contract.http, describe(contract, components));
  return {
    openapi: "3.1.0",
    info: {
      title: "svc",
      version: apiVersion,
      summary: "Control plane for Minecraft servers on Kubernetes.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    tags: tagsOf(),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: components.all(),
      securitySchemes: {
        session: { type: "apiKey", in: "cookie", name: "svc_session" },
        apiToken: { type: "http", scheme: "bearer", bearerFormat: "svc_pat_…" },
        serviceToken: { type: "http", scheme: "bearer" },
        oneTimeToken: { type: "http", scheme: "bearer" },
      },
    },
  };
}

function describe(contract: Operation, components: Components): Json {
  const { http, subject } = contract;
  const body = requestBody(contract, components);
  const parameters = parametersOf(contract, components);
  return {
    operationId: operationId(subject),
    tags: [nounOf(subject)],
    summary: contract.summary,
    ...marks(http),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: responsesOf(contract, components),
    security: securityOf(http),
    ...(http.rights && { "x-rights": http.rights }),
    ...(http.memberRights && { "x-member-rights": http.memberRights }),
    "x-spec": contract.spec,
  };
}

function describeProcess(operation: ProcessOperation): Json {
  const type = operation.answers === "metrics" ? "text/plain" : "application/json";
  return {
    operationId: operationId(`gateway.process.${operation.answers}`),
    tags: ["process"],
    summary: operation.summary,
    ...marks(operation.http),
    responses: {
      "200": { description: "Success.", content: { [type]: { schema: processSchema(operation) } } },
    },
    security: [],
    "x-spec": operation.spec,
  };
}

function processSchema(operation: ProcessOperation): Json {
  if (operation.answers === "metrics") return { type: "string" };
  return { type: "object", required: ["status"], properties: { status: { const: "ok" } } };
}

/** What OpenAPI has no word for. */
function marks(http: HttpBinding): Json {
  return {
    "x-faces": http.faces,
    "x-tier": http.tier,
    "x-callers": http.callers,
    "x-setup": http.setup,
    "x-rate-limited": http.rateLimited,
  };
}

/** `lifecycle.server.read-status` is `lifecycleServerReadStatus`. */
function operationId(subject: string): string {
  return subject.replace(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase());
}

function nounOf(subject: string): string {
  return subject.split(".")[1] ?? subject;
}

function tagsOf(): Json[] {
  const nouns = new Set(["process", ...operations.map(({ subject }) => nounOf(subject))]);
  return [...nouns].sort().map((name) => ({ name }));
}

function securityOf({ tier, bearer, rights }: HttpBinding): Json[] {
  if (bearer !== undefined) return [{ oneTimeToken: [] }];
  if (tier === "public") return [];
  if (tier === "service") return [{ serviceToken: [] }];
  return rights ? [{ session: [] }, { apiToken: [] }] : [{ session: [] }];
}

function parametersOf(contract: Operation, components: Components): Json[] {
  const query = Object.entries(contract.query.shape).filter(
    ([name]) => !(contract.http.collect !== undefined && name === "cursor"),
  );
  const headers = Object.entries(contract.headers.shape).filter(
    ([name]) => !(contract.http.bearer !== undefined && name === "token"),
  );
  return [
    ...Object.entries(contract.params.shape).map((field) => parameter("path", field, components)),
    ...query.map((field) => parameter("query", field, components)),
    ...headers.map(([field, type]) => parameter("header", [headerOf(field), type], components)),
  ];
}

type Place = "path" | "query" | "header";

function parameter(where: Place, field: [string, z.core.$ZodType], components: Components): Json {
  const [name, type] = field;
  const schema = type as z.ZodType;
  const isRequired = where === "path" || !schema.safeParse(undefined).success;
  return { name, in: where, required: isRequired, schema: components.schemaOf(schema, "input") };
}

function requestBody(contract: Operation, components: Components): Json | undefined {
  if (contract.http.kind === "upload") {
    const schema = { type: "string", format: "binary" };
    const types = contract.http.upload?.contentTypes ?? ["application/octet-stream"];
    return { required: true, content: Object.fromEntries(types.map((type) => [type, { schema }])) };
  }
  if (!contract.body) return undefined;
  const schema = components.schemaOf(contract.body, "input");
  return { required: !contract.bodyOptional, content: { "application/json": { schema } } };
}
