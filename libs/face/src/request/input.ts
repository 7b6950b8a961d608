// From parameters, query and body to the flat input of a contract, with messages that name the field.

import { Fault, type Operation } from "@svc/proto";
import type { z } from "zod";

export type Fields = Record<string, unknown>;
export type ReadInput = (params: Fields, query: Fields, body: unknown) => Fields;

type Place = { schema: z.ZodObject; of: string; field: string };

/** Prepares the reader of one contract's input. The reader throws `bad_request`. */
export function inputReader(contract: Operation): ReadInput {
  const params = readerOf({ schema: contract.params, of: "path", field: "path parameter" });
  const query = readerOf({ schema: visibleQuery(contract), of: "query", field: "query parameter" });
  const { body: bodySchema } = contract;
  if (!bodySchema) return (p, q) => ({ ...params(p), ...query(q) });
  const body = readerOf({ schema: bodySchema, of: "body", field: "field" });
  return (p, q, b) => ({ ...params(p), ...query(q), ...body(b as Fields) });
}

/** The query as HTTP callers may send it: the cursor of a collected list is the gateway's own affair. */
export function visibleQuery(contract: Operation): z.ZodObject {
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
  return `${place.field === "field" ? "" : `${place.field} `}${short(path)}: ${message}`;
}

function short(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}
