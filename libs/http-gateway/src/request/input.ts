// From parameters, query and body to the flat input of a contract, with messages that name the field.

import type { IncomingHttpHeaders } from "node:http";
import { Fault, headerOf, type Operation } from "@svc/proto";
import type { z } from "zod";

export type Fields = Record<string, unknown>;
type Given = { params: Fields; query: Fields; headers: IncomingHttpHeaders; body: unknown };
type ReadInput = (given: Given) => Fields;

type Place = { schema: z.ZodObject; of: string; field: string; nameOf?: (field: string) => string };

/** Prepares the reader of one contract's input. The reader throws `bad_request`. */
export function inputReader(contract: Operation): ReadInput {
  const params = readerOf({ schema: contract.params, of: "path", field: "path parameter" });
  const query = readerOf({ schema: visibleQuery(contract), of: "query", field: "query parameter" });
  const headers = headerReader(contract);
  const { body: bodySchema } = contract;
  const body = bodySchema && readerOf({ schema: bodySchema, of: "body", field: "field" });
  return (given) => ({
    ...params(given.params),
    ...query(given.query),
    ...headers?.(given.headers),
    ...body?.(given.body as Fields),
  });
}

const bearerShape = /^Bearer +([\x21-\x7e]{1,256})$/i;

function headerReader({
  headers: schema,
  http,
}: Operation): ((headers: IncomingHttpHeaders) => Fields) | undefined {
  const fields = Object.keys(schema.shape);
  if (fields.length === 0) return undefined;
  const read = readerOf({ schema, of: "headers", field: "header", nameOf: headerOf });
  const isToken = (field: string) => http.bearer === "one-time" && field === "token";
  const places = fields
    .filter((field) => !isToken(field))
    .map((field) => [field, headerOf(field).toLowerCase()]);
  return (headers) => {
    const given: Fields = {};
    if (http.bearer === "one-time") given["token"] = bearerShape.exec(headers.authorization ?? "")?.[1] ?? "";
    for (const [field = "", name = ""] of places)
      if (headers[name] !== undefined) given[field] = headers[name];
    return read(given);
  };
}

/** The query as HTTP callers may send it, without the cursor of a list that the gateway pages itself. */
function visibleQuery(contract: Operation): z.ZodObject {
  const isCollected = contract.http.collect !== undefined && "cursor" in contract.query.shape;
  return isCollected ? contract.query.omit({ cursor: true }) : contract.query;
}

function readerOf(place: Place): (value: Fields) => Fields {
  const { schema } = place;
  const isEmpty = Object.keys(schema.shape).length === 0;
  return (value) => {
    if (isEmpty && isPlainObject(value) && isWithoutKeys(value)) return value;
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw new Fault("bad_request", { message: explain(result.error, place) });
  };
}

function isPlainObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWithoutKeys(value: Fields): boolean {
  for (const _ in value) return false;
  return true;
}

const mostIssues = 5;

function explain(error: z.ZodError, place: Place): string {
  const issues = error.issues.slice(0, mostIssues).map((issue) => explainIssue(issue, place));
  return `The request is not valid: ${issues.join("; ")}.`;
}

function explainIssue(issue: z.core.$ZodIssue, place: Place): string {
  const path = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const keys = issue.keys.slice(0, mostIssues).map((key) => short(path === "" ? key : `${path}.${key}`));
    return `unknown ${place.field} ${keys.join(", ")}`;
  }
  const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  const message = isMissing ? "is required" : issue.message.replace(/^Invalid input: /, "");
  if (path === "") return `${place.of}: ${message}`;
  const name = place.nameOf?.(path) ?? path;
  return `${place.field === "field" ? "" : `${place.field} `}${short(name)}: ${message}`;
}

function short(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}
