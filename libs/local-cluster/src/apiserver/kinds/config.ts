import type { KubeObject } from "../../cluster-api.ts";
import { fieldError, type StatusCause } from "../field-error.ts";
import { isObject, jsonEqual, objectAt } from "../json.ts";
import type { Strategy } from "./strategy.ts";

const limitBytes = 1024 * 1024;
const keyText =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

function validateData(object: KubeObject, fields: string[]): StatusCause[] {
  let total = 0;
  const causes: StatusCause[] = [];
  for (const field of fields) {
    for (const [key, value] of Object.entries(objectAt(object, field))) {
      total += String(value).length;
      if (!/^[-._a-zA-Z0-9]{1,253}$/.test(key))
        causes.push(fieldError.invalid(`${field}[${key}]`, key, keyText));
    }
  }
  if (total <= limitBytes * (fields[0] === "data" && object.kind === "Secret" ? 4 / 3 : 1)) return causes;
  return [
    ...causes,
    {
      reason: "FieldValueTooLong",
      message: `Too long: must have at most ${limitBytes} bytes`,
      field: "data",
    },
  ];
}

function immutableData(next: KubeObject, previous: KubeObject): StatusCause[] {
  if (previous["immutable"] !== true) return [];
  const text = "field is immutable when `immutable` is set";
  return ["immutable", "data", "binaryData"]
    .filter((field) => !jsonEqual(next[field], previous[field]))
    .map((field) => fieldError.forbidden(field, text));
}

/** Secrets: stringData is merged into data, the type is immutable. */
export const secretStrategy: Strategy = {
  defaults: (secret) => {
    const { stringData, ...rest } = secret;
    const plain = Object.entries(isObject(stringData) ? stringData : {});
    const encoded = Object.fromEntries(
      plain.map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")]),
    );
    const data = { ...objectAt(rest, "data"), ...encoded };
    return { ...rest, ...(Object.keys(data).length > 0 ? { data } : {}), type: rest["type"] || "Opaque" };
  },
  validate: (secret) => validateData(secret, ["data"]),
  validateUpdate: (next, previous) => {
    const typed =
      next["type"] === previous["type"]
        ? []
        : [fieldError.invalid("type", next["type"], "field is immutable")];
    return [...typed, ...immutableData(next, previous)];
  },
};

/** Config maps. */
export const configMapStrategy: Strategy = {
  validate: (map) => {
    const shared = Object.keys(objectAt(map, "data")).filter((key) => key in objectAt(map, "binaryData"));
    const text = "duplicate of key present in binaryData";
    return [
      ...validateData(map, ["data", "binaryData"]),
      ...shared.map((key) => fieldError.invalid(`data[${key}]`, key, text)),
    ];
  },
  validateUpdate: immutableData,
};
