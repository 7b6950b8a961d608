import type { StatusCause } from "./field-error.ts";
import type { ResourceType } from "./resource-type.ts";

/** The object that a Status is about. */
type StatusDetails = {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: Partial<StatusCause>[];
  retryAfterSeconds?: number;
};

/** An error response of the API server: HTTP code, Kubernetes reason and the Status object of the body. */
export class ApiStatus extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails;

  constructor(code: number, reason: string, options: { message: string; details?: StatusDetails }) {
    super(options.message);
    this.name = "ApiStatus";
    this.code = code;
    this.reason = reason;
    this.details = options.details ?? {};
  }

  /** The `v1.Status` object of the response. */
  toJSON(): Record<string, unknown> {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      reason: this.reason,
      details: this.details,
      code: this.code,
    };
  }
}

type Named = Pick<ResourceType, "group" | "plural" | "kind">;

function detailsOf(type: Named, name?: string): StatusDetails {
  return {
    ...(name ? { name } : {}),
    ...(type.group ? { group: type.group } : {}),
    kind: type.plural,
  };
}

function qualified(type: Named): string {
  return type.group ? `${type.plural}.${type.group}` : type.plural;
}

/** 404 NotFound for one object. */
export function notFound(type: Named, name: string): ApiStatus {
  const message = `${qualified(type)} "${name}" not found`;
  return new ApiStatus(404, "NotFound", { message, details: detailsOf(type, name) });
}

/** 404 for a path that no resource serves. */
export function noSuchPath(): ApiStatus {
  return new ApiStatus(404, "NotFound", { message: "the server could not find the requested resource" });
}

/** 409 AlreadyExists; an object that is being deleted keeps its name until it is gone. */
export function alreadyExists(type: Named, name: string, isTerminating = false): ApiStatus {
  const message = `${isTerminating ? "object is being deleted: " : ""}${qualified(type)} "${name}" already exists`;
  return new ApiStatus(409, "AlreadyExists", { message, details: detailsOf(type, name) });
}

/** 409 Conflict; the default message is that of a stale resourceVersion. */
export function conflict(
  type: Named,
  name: string,
  text = "the object has been modified; please apply your changes to the latest version and try again",
): ApiStatus {
  const message = `Operation cannot be fulfilled on ${qualified(type)} "${name}": ${text}`;
  return new ApiStatus(409, "Conflict", { message, details: detailsOf(type, name) });
}

/** 422 Invalid with one cause per field error. */
export function invalid(type: Named, name: string, causes: StatusCause[]): ApiStatus {
  const lines = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const text = lines.length === 1 ? lines[0] : `[${lines.join(", ")}]`;
  const kind = type.group ? `${type.kind}.${type.group}` : type.kind;
  const details = { ...detailsOf(type, name), kind: type.kind, causes };
  return new ApiStatus(422, "Invalid", { message: `${kind} "${name}" is invalid: ${text}`, details });
}

/** 400 BadRequest. */
export function badRequest(message: string): ApiStatus {
  return new ApiStatus(400, "BadRequest", { message });
}

/** 403 Forbidden for an object that admission rejects. */
export function forbidden(type: Named, name: string, text: string): ApiStatus {
  const message = `${qualified(type)} "${name}" is forbidden: ${text}`;
  return new ApiStatus(403, "Forbidden", { message, details: detailsOf(type, name) });
}

/** 405 MethodNotAllowed. */
export function methodNotAllowed(): ApiStatus {
  return new ApiStatus(405, "MethodNotAllowed", {
    message: "the server does not allow this method on the requested resource",
  });
}

/** 415 UnsupportedMediaType with the accepted types. */
export function unsupportedMediaType(accepted: string[]): ApiStatus {
  return new ApiStatus(415, "UnsupportedMediaType", {
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  });
}

/** 410 for a watch from a version whose history is gone. */
export function tooOldVersion(asked: number, oldest: number): ApiStatus {
  return new ApiStatus(410, "Expired", { message: `too old resource version: ${asked} (${oldest})` });
}

/** 410 for a continue token whose snapshot is gone. */
export function expiredContinue(): ApiStatus {
  return new ApiStatus(410, "Expired", {
    message:
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.",
  });
}

/** 504 for a resourceVersion that this server has not reached. */
export function tooLargeVersion(asked: number, current: number): ApiStatus {
  return new ApiStatus(504, "Timeout", {
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  });
}
