import { parseQuantity } from "@svc/kube/quantity";
import { fieldError } from "../field-error.ts";
import { isObject, jsonEqual, listAt, objectAt, stringAt } from "../json.ts";
import { defaultClaimSpec } from "./claim-spec.ts";
import type { Strategy } from "./strategy.ts";

const claimText =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

function storageOf(spec: unknown): string {
  return stringAt(objectAt(objectAt(spec, "resources"), "requests"), "storage");
}

function fixedClaim(spec: unknown, previous: unknown): unknown {
  const { resources: _resources, ...rest } = isObject(spec) ? spec : {};
  // Binding sets the volume, and the default class may be filled in later.
  if (stringAt(previous, "volumeName") === "") delete rest["volumeName"];
  if (!isObject(previous) || previous["storageClassName"] === undefined) delete rest["storageClassName"];
  return rest;
}

/** Claims: immutable except for a larger request. */
export const claimStrategy: Strategy = {
  defaults: (claim) => ({ ...claim, spec: defaultClaimSpec(objectAt(claim, "spec")) }),
  onCreate: (claim, { defaultStorageClass }) => {
    const spec = objectAt(claim, "spec");
    const name = spec["storageClassName"] ?? defaultStorageClass();
    return {
      ...claim,
      spec: { ...spec, ...(name === undefined ? {} : { storageClassName: name }) },
      status: { phase: "Pending" },
    };
  },
  validate: (claim) => {
    const causes = [];
    if (listAt(claim.spec, "accessModes").length === 0) {
      causes.push(fieldError.required("spec.accessModes", "at least 1 access mode is required"));
    }
    const storage = storageOf(claim.spec);
    if (storage === "") causes.push(fieldError.required("spec.resources[storage]"));
    else if ((parseQuantity(storage) ?? 0n) <= 0n) {
      causes.push(fieldError.invalid("spec.resources[storage]", storage, "must be greater than zero"));
    }
    return causes;
  },
  validateUpdate: (next, previous) => {
    if (!jsonEqual(fixedClaim(next.spec, previous.spec), fixedClaim(previous.spec, previous.spec))) {
      return [fieldError.forbidden("spec", claimText)];
    }
    const [after, before] = [storageOf(next.spec), storageOf(previous.spec)];
    if (after !== before && stringAt(previous.status, "phase") !== "Bound") {
      return [fieldError.forbidden("spec", claimText)];
    }
    if ((parseQuantity(after) ?? 0n) >= (parseQuantity(before) ?? 0n)) return [];
    return [
      fieldError.forbidden("spec.resources.requests.storage", "field can not be less than previous value"),
    ];
  },
};

/** Volumes. */
export const volumeStrategy: Strategy = {
  defaults: (volume) => {
    const spec = {
      persistentVolumeReclaimPolicy: "Retain",
      volumeMode: "Filesystem",
      ...objectAt(volume, "spec"),
    };
    return { ...volume, spec };
  },
  onCreate: (volume) => ({
    ...volume,
    status: { phase: "Pending" },
  }),
  validate: (volume) => {
    const causes = [];
    if (listAt(volume.spec, "accessModes").length === 0) causes.push(fieldError.required("spec.accessModes"));
    if (stringAt(objectAt(volume.spec, "capacity"), "storage") === "")
      causes.push(fieldError.required("spec.capacity"));
    return causes;
  },
};

/** Storage classes. */
export const storageClassStrategy: Strategy = {
  defaults: (storageClass) => ({ reclaimPolicy: "Delete", volumeBindingMode: "Immediate", ...storageClass }),
  validate: (storageClass) =>
    stringAt(storageClass, "provisioner") === "" ? [fieldError.required("provisioner")] : [],
  validateUpdate: (next, previous) =>
    ["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"].flatMap((key) =>
      jsonEqual(next[key], previous[key])
        ? []
        : [fieldError.forbidden(key, `updates to ${key} are forbidden.`)],
    ),
};
