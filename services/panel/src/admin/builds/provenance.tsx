import type { provenances } from "@svc/proto";
import type { ReactNode } from "react";
import { addressOf } from "../../api/address.ts";
import { useOperation } from "../../api/query.ts";
import { Copied } from "../../ui/copied.tsx";
import { DownloadLink } from "../../ui/download-link.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Facts, Muted, Row } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import type { Build } from "./builds-view.ts";

/** Where the image of a build that succeeded comes from. */
export function Provenance({ build: { id, kind, status } }: { build: Build }) {
  const { provenance: words } = usePackWords();
  const isBuilt = kind !== "scan" && status === "succeeded";
  const { data, error, refetch } = useOperation("provenances.readProvenance", { id }, { enabled: isBuilt });
  if (!isBuilt) return null;
  return (
    <Card title={words.title}>
      {data ? <Shown provenance={data} /> : <Missing error={error} retry={() => void refetch()} />}
    </Card>
  );
}

function Missing({ error, retry }: { error: { code: string } | null; retry: () => void }) {
  const { provenance: words } = usePackWords();
  if (error?.code === "provenance_not_found") return <Muted>{words.none}</Muted>;
  return error ? <Failure error={error as never} retry={retry} /> : <Loading />;
}

function Shown({ provenance }: { provenance: provenances.Provenance }) {
  const { provenance: words } = usePackWords();
  const { build_id: id, manifest_digest, statement } = provenance;
  const { buildDefinition, runDetails } = statement.predicate;
  const [context, ...bases] = buildDefinition.resolvedDependencies;
  const { scanner } = runDetails.svc_scan;
  const programs = Object.entries(runDetails.builder.version);
  const rows: (readonly [string, ReactNode] | false)[] = [
    context !== undefined && [
      words.context,
      <Copied key="context" text={context.digest.sha256} what={words.context} />,
    ],
    bases.length > 0 && [
      words.bases,
      <div key="bases">
        {bases.map(({ uri, digest }) => (
          <div key={uri}>
            <Copied text={`${uri}@sha256:${digest.sha256}`} what={words.bases} />
          </div>
        ))}
      </div>,
    ],
    [words.builder, programs.map(([name, version]) => visible(words.program(name, version))).join(", ")],
    [words.scanner, scanner ? visible(words.program(scanner.name, scanner.version)) : words.noScanner],
    [words.manifest, <Copied key="manifest" text={manifest_digest} what={words.manifest} />],
  ];
  return (
    <>
      <Muted>{words.help}</Muted>
      <Facts rows={rows.filter((row) => row !== false)} />
      <Row>
        <DownloadLink
          href={addressOf("provenances.readProvenance", { id })}
          filename={`${id}-provenance.json`}
        >
          {words.download}
        </DownloadLink>
      </Row>
    </>
  );
}
