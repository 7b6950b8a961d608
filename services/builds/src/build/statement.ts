// The statement of where an image comes from (docs/reference/builds.md#provenance). Pure: the same build gives the same
// bytes, so that a repeat after a crash stores nothing twice.

import { type buildJobs, provenances } from "@svc/proto";
import type { BuildRow } from "./row.ts";

type BuildEvidence = {
  row: Pick<
    BuildRow,
    | "id"
    | "image_ref"
    | "context_ref"
    | "context_digest"
    | "requested_by"
    | "submission_id"
    | "created_at"
    | "started_at"
  >;
  verdict: buildJobs.Verdict;
  push: buildJobs.PushResult;
  /** What the step of the build said; undefined for an agent of another version. */
  built: buildJobs.BuildResult | undefined;
  /** What the context that was fetched is, where the step said so. */
  fetched: buildJobs.ContextResult | undefined;
  finishedAt: Date;
  /** Version of svc. */
  version: string;
};

const { statementTypes } = provenances;
const hexOf = (digest: string) => ({ sha256: digest.replace(/^sha256:/, "") });

export function statementOf(evidence: BuildEvidence): provenances.ProvenanceStatement {
  const { row, push } = evidence;
  return {
    _type: statementTypes.statement,
    subject: [{ name: row.image_ref.replace(/:[^:/]+$/, ""), digest: hexOf(push.digest) }],
    predicateType: statementTypes.predicate,
    predicate: {
      buildDefinition: {
        buildType: statementTypes.build,
        externalParameters: {
          image_ref: row.image_ref,
          requested_by: row.requested_by,
          ...(row.submission_id !== null && { submission_id: row.submission_id }),
        },
        resolvedDependencies: dependenciesOf(evidence),
      },
      runDetails: runDetailsOf(evidence),
    },
  };
}

type Predicate = provenances.ProvenanceStatement["predicate"];

function dependenciesOf({
  row,
  built,
  fetched,
}: BuildEvidence): Predicate["buildDefinition"]["resolvedDependencies"] {
  const context = fetched?.context_digest ?? row.context_digest;
  const bases = built?.bases ?? [];
  return [
    ...(context === null ? [] : [{ uri: row.context_ref, digest: { sha256: context } }]),
    ...bases.map(({ image_ref, digest }) => ({ uri: image_ref, digest: hexOf(digest) })),
  ];
}

function runDetailsOf({ row, verdict, built, finishedAt, version }: BuildEvidence): Predicate["runDetails"] {
  const { policy, blocked, counts, scanner, database_at } = verdict.summary;
  const { accepted, ...rest } = policy;
  return {
    builder: {
      id: statementTypes.builder,
      version: { svc: version, ...(built?.builder && { [built.builder.name]: built.builder.version }) },
    },
    metadata: {
      invocationId: row.id,
      startedOn: (row.started_at ?? row.created_at).toISOString(),
      finishedOn: finishedAt.toISOString(),
    },
    svc_scan: {
      scanned_at: verdict.scanned_at,
      ...(scanner && { scanner }),
      ...(database_at && { database_at }),
      blocked,
      // Whoever can reach the registry reads this: names of people who accepted a finding stay out.
      policy: {
        ...rest,
        ...(accepted && { accepted: accepted.map(({ id: _id, by: _by, ...shown }) => shown) }),
      },
      counts,
    },
  };
}
