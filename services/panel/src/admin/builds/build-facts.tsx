import type { ReactNode } from "react";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Disclosure, Preformatted } from "../../ui/disclosure.tsx";
import { Card, Facts, Row } from "../../ui/layout.tsx";
import { Link } from "../../ui/link.tsx";
import { Time } from "../../ui/time.tsx";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import type { Build } from "./builds-view.ts";

/** Who asked for a build, of what it is made, and what it is called. */
export function BuildFacts({ build }: { build: Build }) {
  const { builds } = usePackWords();
  const { submission_id, retry_of, dockerfile, base_image, finished_at } = build;
  const copied = (text: string, what: string, shown = text) => (
    <Row>
      <code title={text}>{visible(shown)}</code>
      <CopyButton text={text} what={what} />
    </Row>
  );
  const rows: (readonly [string, ReactNode] | false)[] = [
    [builds.image, copied(build.image_ref, builds.image)],
    build.image_digest !== undefined && [
      builds.imageDigest,
      copied(build.image_digest, builds.imageDigest, shortened(build.image_digest)),
    ],
    build.context_digest !== undefined && [
      builds.contextDigest,
      copied(build.context_digest, builds.contextDigest, shortened(build.context_digest)),
    ],
    base_image !== undefined && [builds.baseImage, <code key="base">{visible(base_image)}</code>],
    [builds.requestedBy, <bdi key="by">{visible(build.requested_by)}</bdi>],
    [builds.createdAt, <Time key="at" at={build.created_at} />],
    finished_at !== undefined && [builds.finishedAt, <Time key="end" at={finished_at} />],
    submission_id !== undefined && [
      builds.submission,
      <Link key="submission" to={`/admin/submissions/${submission_id}`}>
        {builds.toSubmission}
      </Link>,
    ],
    retry_of !== undefined && [
      builds.retryOf,
      <Link key="retry" to={`/admin/builds/${retry_of}`}>
        {builds.toEarlier}
      </Link>,
    ],
    [builds.id, copied(build.id, builds.id, shortened(build.id))],
  ];
  return (
    <Card title={builds.facts}>
      <Facts rows={rows.filter((row) => row !== false)} />
      {dockerfile !== undefined && dockerfile !== "" && (
        <Disclosure summary={builds.dockerfile}>
          <Preformatted label={builds.dockerfile}>{visible(dockerfile)}</Preformatted>
        </Disclosure>
      )}
    </Card>
  );
}

function shortened(text: string): string {
  return text.length > 20 ? `${text.slice(0, 19)}…` : text;
}
