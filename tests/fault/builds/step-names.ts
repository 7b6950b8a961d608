// Names of the changes that builds makes, as the kill tables use them. Pure.

const statements: readonly (readonly [RegExp, string])[] = [
  [/^insert into "image_submissions"/, "the submission is written"],
  [/^update "submission_uploads" set "parts" = parts \|\|/, "the part is added"],
  [/^insert into "submission_uploads"/, "the writer's lease is taken"],
  [/^delete from "submission_uploads" where "submission_id"/, "the upload is completed"],
  [/^insert into "image_builds"/, "the build is written"],
  [/^update "image_builds" set "status" = \$\d, "started_at"/, "the build is started"],
  [/^update "image_builds" set "documents_token_hashes"/, "the token is written"],
  [/^update "image_builds" set "launched_at"/, "the build is launched"],
  [/^update "image_builds" set "sealed_at"/, "the build is sealed"],
  [/^update "image_builds" set "status" = \$\d, "(steps|error)"/, "the build is ended"],
  [/^insert into "image_build_documents"/, "a document is written"],
  [/^insert into "image_build_scans"/, "the scan is written"],
  [/^insert into "image_provenances"/, "the provenance is written"],
  [/^insert into "image_whitelist"/, "the image is whitelisted"],
  [/^update "image_builds" set "cleaned_at"/, "the build is cleaned"],
  [/^update "submission_notices" set "due_at" = [^,]+, "attempts"/, "the mail is taken"],
  [/^update "submission_notices" set "sent_at"/, "the mail is settled"],
];

/** Undefined for a statement that is not a step. */
export function stepOfStatement(text: string): string | undefined {
  return statements.find(([shape]) => shape.test(text))?.[1];
}

export function stepOfObject(method: "create" | "remove", kind: string): string | undefined {
  if (kind !== "Job" && kind !== "Secret") return undefined;
  return `the ${kind} is ${method === "create" ? "created" : "removed"}`;
}

/** Of a request to the registry. */
export function stepOfRequest(method: string, url: string): string | undefined {
  if (method === "DELETE" && url.includes("/manifests/")) return "a manifest is deleted";
  return method === "PUT" && url.endsWith("/manifests/latest") ? "the image is tagged" : undefined;
}

export function stepOfFile(method: "rename" | "rm", path: string): string | undefined {
  if (method === "rename") return path.includes("/.partial-") ? "a blob is stored" : undefined;
  return /\/(part|index)-[0-9a-f]+$/.test(path) ? "a blob is removed" : undefined;
}
