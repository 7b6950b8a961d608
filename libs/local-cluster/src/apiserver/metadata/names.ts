import { nameSuffix } from "../../name-suffix.ts";
import { fieldError, type StatusCause } from "../field-error.ts";

const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const serviceText =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const service = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

function check(
  name: string,
  field: string,
  rule: { pattern: RegExp; text: string; limit: number },
): StatusCause[] {
  if (name.length > rule.limit)
    return [fieldError.invalid(field, name, `must be no more than ${rule.limit} characters`)];
  return rule.pattern.test(name) ? [] : [fieldError.invalid(field, name, rule.text)];
}

/** A DNS-1123 label: containers, volumes, namespaces. */
export function dns1123Label(name: string, field: string): StatusCause[] {
  return check(name, field, { pattern: label, text: labelText, limit: 63 });
}

/** A DNS-1123 subdomain: most objects. */
export function dns1123Subdomain(name: string, field: string): StatusCause[] {
  return check(name, field, { pattern: subdomain, text: subdomainText, limit: 253 });
}

/** A DNS-1035 label: services. */
export function dns1035Label(name: string, field: string): StatusCause[] {
  return check(name, field, { pattern: service, text: serviceText, limit: 63 });
}

/** A path segment: roles and bindings, whose names may contain a colon. */
export function pathSegment(name: string, field: string): StatusCause[] {
  if (name === "." || name === "..") return [fieldError.invalid(field, name, `may not be '${name}'`)];
  return /[/%]/.test(name) ? [fieldError.invalid(field, name, "may not contain '/' or '%'")] : [];
}

/** `prefix` with five random characters, short enough for a name. */
export function generateName(prefix: string): string {
  return prefix.slice(0, 58) + nameSuffix();
}
