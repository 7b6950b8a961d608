import type { buildJobs, scans } from "@svc/proto";
import type { Settings } from "../config.ts";
import { isPlainHttp } from "../image/registry.ts";
import type { BuildRow } from "./row.ts";

type Accepted = NonNullable<scans.ScanPolicy["accepted"]>;

/** What the steps of a build are told; `accepted` are the acceptances that apply to its image. Pure. */
export function taskOf(
  { registry, builds }: Settings,
  row: BuildRow,
  accepted: Accepted = [],
): buildJobs.BuildTask {
  return {
    build_id: row.id,
    context_url: row.context_ref || builds.internal_url,
    ...(row.kind === "scan" && row.image_digest !== null && { image_digest: row.image_digest }),
    ...(row.context_digest !== null && { context_digest: row.context_digest }),
    limits: { context_bytes: builds.context_bytes, context_entries: builds.context_entries },
    registry: { host: registry.url, plain_http: isPlainHttp(registry) },
    image_ref: row.image_ref,
    policy: {
      fail_on: registry.scan_fail_on,
      fail_unfixed: registry.scan_fail_unfixed,
      ...(registry.scan_accept.length > 0 && { accept: registry.scan_accept }),
      ...(accepted.length > 0 && { accepted }),
    },
    database: { need: registry.scan_db, max_age_ms: registry.scan_db_max_age },
    documents_url: `${builds.internal_url}/api/v1/internal/builds/${row.id}/documents`,
  };
}
