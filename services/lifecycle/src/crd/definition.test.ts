import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { MinecraftServer } from "@svc/proto";
import { minecraftServerCrd } from "./definition.ts";
import { crdFile, crdText } from "./file.ts";

type Schema = {
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema;
  required?: string[];
  minimum?: number;
  maximum?: number;
  enum?: string[];
};
type Version = { schema: { openAPIV3Schema: Schema } };

const versions = minecraftServerCrd().spec["versions"] as Version[];
const root = versions[0]?.schema.openAPIV3Schema.properties;
const spec = root?.["spec"];
const status = root?.["status"];

test("the definition in deploy/crd matches the model", () => {
  const isCurrent = readFileSync(crdFile, "utf8") === crdText();
  assert.ok(isCurrent, "run node launch.cjs services/lifecycle/src/crd/write.ts");
});

test("only subdomain and image are required", () => {
  assert.deepEqual(spec?.required, ["subdomain", "image"]);
});

test("every status field of the model is in the schema, so none is pruned", () => {
  assert.deepEqual(Object.keys(status?.properties ?? {}), Object.keys(MinecraftServer.status.shape));
});

test("numbers are int32 with their own bounds, times are date-time, quantities are a map", () => {
  const startup = spec?.properties?.["startup"]?.properties?.["timeoutSeconds"];
  assert.deepEqual(startup, { type: "integer", format: "int32", minimum: 0, maximum: 86_400 });
  assert.deepEqual(status?.properties?.["autoRestarts"], { type: "integer", format: "int32" });
  assert.deepEqual(status?.properties?.["observedGeneration"], { type: "integer", format: "int64" });
  assert.deepEqual(status?.properties?.["startRequestedAt"], { type: "string", format: "date-time" });
  const limits = spec?.properties?.["resources"]?.properties?.["limits"];
  assert.deepEqual(limits, { type: "object", additionalProperties: { type: "string" } });
});

test("the schema is structural: every node has a type and nothing forbids unknown fields", () => {
  const check = (schema: Schema, path: string) => {
    assert.equal(typeof schema.type, "string", `${path} has no type`);
    assert.notEqual(schema.additionalProperties as unknown, false, `${path} forbids unknown fields`);
    for (const [name, child] of Object.entries(schema.properties ?? {})) check(child, `${path}.${name}`);
    if (schema.items) check(schema.items, `${path}[]`);
  };
  check(versions[0]?.schema.openAPIV3Schema ?? {}, "");
});
