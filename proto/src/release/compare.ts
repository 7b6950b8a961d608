// Whether builds of two releases understand each other while they run side by side (docs/reference/mesh.md#versions).

import type { Json, Release, ReleasedContract } from "./snapshot.ts";

/** What one side sends and another must take. */
type Sides = { reader: Json; writer: Json };
/** `ignores`: the reader leaves out members that it does not know. */
type Reading = { at: string; ignores: boolean };

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const schemasOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
const namesOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/** The alternatives of a schema; one that has none is its own. */
function alternatives(schema: Json): Json[] {
  const { anyOf, oneOf, ...shared } = schema;
  const listed = anyOf ?? oneOf;
  if (listed !== undefined) return schemasOf(listed).flatMap((one) => alternatives({ ...shared, ...one }));
  const { type, enum: values, ...rest } = schema;
  if (Array.isArray(values)) return values.map((value: unknown) => ({ const: value }));
  if (Array.isArray(type)) return type.map((one: unknown) => ({ ...rest, type: one }));
  return [schema];
}

const lowest = ["minimum", "exclusiveMinimum", "minLength", "minItems"];
const highest = ["maximum", "exclusiveMaximum", "maxLength", "maxItems"];
const sames = ["pattern", "format", "multipleOf"];

function boundFaults({ reader, writer }: Sides, at: string): string[] {
  const given = (schema: Json, name: string, none: number) =>
    typeof schema[name] === "number" ? schema[name] : none;
  const found: string[] = [];
  for (const name of lowest) {
    if (given(reader, name, Number.NEGATIVE_INFINITY) > given(writer, name, Number.NEGATIVE_INFINITY))
      found.push(
        `${at}: ${name} is ${reader[name]} for the reader, ${writer[name] ?? "none"} for the writer`,
      );
  }
  for (const name of highest) {
    if (given(reader, name, Number.POSITIVE_INFINITY) < given(writer, name, Number.POSITIVE_INFINITY))
      found.push(
        `${at}: ${name} is ${reader[name]} for the reader, ${writer[name] ?? "none"} for the writer`,
      );
  }
  for (const name of sames) {
    if (reader[name] !== undefined && reader[name] !== writer[name])
      found.push(`${at}: the reader demands another ${name}`);
  }
  return found;
}

function memberFaults({ reader, writer }: Sides, { at, ignores }: Reading): string[] {
  const known = isObject(reader["properties"]) ? reader["properties"] : {};
  const sent = isObject(writer["properties"]) ? writer["properties"] : {};
  const found: string[] = [];
  for (const name of namesOf(reader["required"])) {
    if (!namesOf(writer["required"]).includes(name))
      found.push(`${at}: the reader needs "${name}", which the writer may leave out`);
  }
  for (const [name, schema] of Object.entries(sent)) {
    const own = known[name];
    const place = `${at}.${name}`;
    if (isObject(own) && isObject(schema))
      found.push(...faultsOf({ reader: own, writer: schema }, { at: place, ignores }));
    else if (own === undefined && reader["additionalProperties"] === false && !ignores)
      found.push(`${at}: the reader does not know "${name}"`);
  }
  const [rest, other] = [reader["additionalProperties"], writer["additionalProperties"]];
  if (isObject(rest) && isObject(other))
    found.push(...faultsOf({ reader: rest, writer: other }, { at: `${at}.*`, ignores }));
  return found;
}

function oneFaults({ reader, writer }: Sides, reading: Reading): string[] {
  const { at } = reading;
  if (Object.keys(reader).length === 0) return [];
  if (reader["const"] !== undefined || writer["const"] !== undefined)
    return constFaults({ reader, writer }, at);
  if (reader["type"] !== writer["type"] && !(reader["type"] === "number" && writer["type"] === "integer"))
    return [`${at}: ${String(writer["type"])} is sent, ${String(reader["type"])} is read`];
  const found = boundFaults({ reader, writer }, at);
  if (reader["type"] === "object") found.push(...memberFaults({ reader, writer }, reading));
  const [items, others] = [reader["items"], writer["items"]];
  if (isObject(items) && isObject(others))
    found.push(...faultsOf({ reader: items, writer: others }, { ...reading, at: `${at}[]` }));
  return found;
}

function constFaults({ reader, writer }: Sides, at: string): string[] {
  if (reader["const"] === undefined && reader["type"] === typeof writer["const"]) return [];
  if (JSON.stringify(reader["const"]) === JSON.stringify(writer["const"])) return [];
  return [
    `${at}: ${JSON.stringify(writer["const"] ?? writer["type"])} is sent, which the reader does not know`,
  ];
}

/** Why `reader` would refuse something that `writer` allows; nothing when it takes all of it. */
export function faultsOf({ reader, writer }: Sides, reading: Reading): string[] {
  if (JSON.stringify(reader) === JSON.stringify(writer)) return [];
  const taken = alternatives(reader);
  return alternatives(writer).flatMap((sent) => {
    const tries = taken.map((one) => oneFaults({ reader: one, writer: sent }, reading));
    if (tries.some((faults) => faults.length === 0)) return [];
    // Of several alternatives, report the closest one.
    return tries.toSorted((a, b) => a.length - b.length)[0] ?? [];
  });
}

function contractFaults(subject: string, old: ReleasedContract, now: ReleasedContract): string[] {
  const found = faultsOf(
    { reader: now.input, writer: old.input },
    { at: `${subject}, request of a caller of the release`, ignores: false },
  );
  const answer = { at: `${subject}, answer to a caller of the release`, ignores: true };
  found.push(...faultsOf({ reader: old.output, writer: now.output }, answer));
  // Gateways pass an owner's answer on as it is; services read it.
  if (old.http === undefined) {
    const reading = { at: `${subject}, answer of an owner of the release`, ignores: true };
    found.push(...faultsOf({ reader: now.output, writer: old.output }, reading));
  }
  if (old.http !== undefined && old.http !== now.http)
    found.push(`${subject}: was ${old.http}, is ${now.http ?? "not on HTTP"}`);
  for (const caller of old.callers)
    if (!now.callers.includes(caller)) found.push(`${subject}: ${caller} may not call it any more`);
  if (old.onceById && !now.onceById)
    found.push(`${subject}: is not onceById any more, so a repeat is made twice`);
  if (old.idempotent && !now.idempotent) found.push(`${subject}: is not idempotent any more`);
  return found;
}

/** Everything that builds of the two releases would not understand of each other, in words; nothing when they fit. */
export function breaks(old: Release, now: Release): string[] {
  const found: string[] = [];
  for (const [subject, contract] of Object.entries(old.contracts)) {
    const current = now.contracts[subject];
    if (current) found.push(...contractFaults(subject, contract, current));
    else found.push(`${subject}: is gone, and callers of the release ask it`);
  }
  for (const [name, schema] of Object.entries(old.messages)) {
    const current = now.messages[name];
    if (!current) {
      found.push(`${name}: is gone, and readers of the release wait for it`);
      continue;
    }
    const newer = { at: `${name}, read by the release`, ignores: true };
    const older = { at: `${name}, written by the release`, ignores: true };
    found.push(...faultsOf({ reader: schema, writer: current }, newer));
    found.push(...faultsOf({ reader: current, writer: schema }, older));
  }
  return found;
}
