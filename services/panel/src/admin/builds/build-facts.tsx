import type { ReactNode } from "react";
import { Copied } from "../../ui/copied.tsx";
import { Disclosure, Preformatted } from "../../ui/disclosure.tsx";
import { Card, Facts } from "../../ui/layout.tsx";
import { Link } from "../../ui/link.tsx";
import { Time } from "../../ui/time.tsx";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import type { Build } from "./builds-view.ts";

/** Who asked for a build, of what it is made, and what it is called. */
export function BuildFacts({ build }: { build: Build }) {
  const { builds } = usePackWords();
  const { submission_id, retry_of, dockerfile, base_image, finished_at } = build;
  const rows: (readonly [string, ReactNode] | false)[] = [
    [builds.image, <Copied key="image" text={build.image_ref} what={builds.image} />],
    build.image_digest !== undefined && [
      builds.imageDigest,
      <ShortDigest key="digest" text={build.image_digest} what={builds.imageDigest} />,
    ],
    build.context_digest !== undefined && [
      builds.contextDigest,
      <ShortDigest key="context" text={build.context_digest} what={builds.contextDigest} />,
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
    [builds.id, <ShortDigest key="id" text={build.id} what={builds.id} />],
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

function ShortDigest({ text, what }: { text: string; what: string }) {
  return <Copied text={text} what={what} shown={text.length > 20 ? `${text.slice(0, 19)}…` : text} />;
}
