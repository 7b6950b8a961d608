import type { KubeObject, ObjectMeta } from "../../cluster-api.ts";
import { fieldError, type StatusCause } from "../field-error.ts";
import { isObject } from "../json.ts";
import type { ResourceType } from "../resource-type.ts";
import { dns1035Label, dns1123Label, dns1123Subdomain, pathSegment } from "./names.ts";

const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
const qualifiedName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const annotationLimitBytes = 256 * 1024;

/** The field errors of the metadata of an object of this kind. */
export function validateMetadata(type: ResourceType, object: KubeObject): StatusCause[] {
  const meta = object.metadata;
  if (!meta.name) return [fieldError.required("metadata.name", "name or generateName is required")];
  return [
    ...nameRule(type)(meta.name, "metadata.name"),
    ...validateLabels(meta.labels, "metadata.labels"),
    ...validateAnnotations(meta.annotations),
    ...validateFinalizers(meta.finalizers),
    ...validateOwners(meta),
  ];
}

function nameRule(type: ResourceType): (name: string, field: string) => StatusCause[] {
  if (type.group === "rbac.authorization.k8s.io") return pathSegment;
  if (type.storageKey === "/services") return dns1035Label;
  if (type.storageKey === "/namespaces") return dns1123Label;
  return dns1123Subdomain;
}

/** The field errors of a set of labels at `field`. */
function validateLabels(labels: unknown, field: string): StatusCause[] {
  if (!isObject(labels)) return [];
  return Object.entries(labels).flatMap(([key, value]) => {
    if (!qualifiedName.test(key))
      return [
        fieldError.invalid(
          field,
          key,
          "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        ),
      ];
    if (typeof value !== "string") return [fieldError.invalid(field, value, "must be a string")];
    if (value.length > 63) return [fieldError.invalid(field, value, "must be no more than 63 characters")];
    if (labelValue.test(value)) return [];
    const text =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    return [fieldError.invalid(field, value, text)];
  });
}

function validateAnnotations(annotations: unknown): StatusCause[] {
  if (!isObject(annotations)) return [];
  let total = 0;
  const causes: StatusCause[] = [];
  for (const [key, value] of Object.entries(annotations)) {
    total += key.length + String(value).length;
    if (!qualifiedName.test(key.toLowerCase()))
      causes.push(
        fieldError.invalid(
          "metadata.annotations",
          key,
          "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        ),
      );
  }
  if (total > annotationLimitBytes) {
    causes.push({
      reason: "FieldValueTooLong",
      message: `Too long: must have at most ${annotationLimitBytes} bytes`,
      field: "metadata.annotations",
    });
  }
  return causes;
}

function validateFinalizers(finalizers: unknown): StatusCause[] {
  if (!Array.isArray(finalizers)) return [];
  return finalizers.flatMap((name) => {
    if (typeof name === "string" && qualifiedName.test(name)) return [];
    return [
      fieldError.invalid(
        "metadata.finalizers",
        name,
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      ),
    ];
  });
}

function validateOwners(meta: ObjectMeta): StatusCause[] {
  const owners = meta.ownerReferences ?? [];
  const causes = owners.flatMap((owner) =>
    (["apiVersion", "kind", "name", "uid"] as const).flatMap((key) =>
      owner[key]
        ? []
        : [
            fieldError.invalid(
              `metadata.ownerReferences.${key}`,
              owner[key] ?? "",
              `${key} must not be empty`,
            ),
          ],
    ),
  );
  if (owners.filter((owner) => owner.controller).length > 1) {
    causes.push(
      fieldError.invalid(
        "metadata.ownerReferences",
        owners,
        "Only one reference can have Controller set to true",
      ),
    );
  }
  return causes;
}

/** The field errors of an update of the metadata. */
export function validateMetadataUpdate(next: KubeObject, previous: KubeObject): StatusCause[] {
  if (!previous.metadata.deletionTimestamp) return [];
  const known = previous.metadata.finalizers ?? [];
  const added = (next.metadata.finalizers ?? []).filter((name) => !known.includes(name));
  if (added.length === 0) return [];
  const text = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((name) => JSON.stringify(name)).join(", ")}}`;
  return [fieldError.forbidden("metadata.finalizers", text)];
}
