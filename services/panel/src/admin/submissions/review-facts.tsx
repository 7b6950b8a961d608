import type { ReactNode } from "react";
import { Copied } from "../../ui/copied.tsx";
import { Card, Facts } from "../../ui/layout.tsx";
import { Time } from "../../ui/time.tsx";
import { formatBytes } from "../../words/format.ts";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage } from "../../words/words.ts";
import type { Submission } from "./submissions-view.ts";

/** Whose pack it is, how large, and the digest that an approval names. */
export function ReviewFacts({ submission }: { submission: Submission }) {
  const { review } = usePackWords();
  const { language } = useLanguage();
  const { context_bytes, context_sha256, image_ref, reviewed_by, reviewed_at } = submission;
  const rows: (readonly [string, ReactNode] | false)[] = [
    [review.author, <bdi key="author">{visible(submission.submitted_by)}</bdi>],
    [review.createdAt, <Time key="at" at={submission.created_at} />],
    context_bytes !== undefined && [review.size, formatBytes(context_bytes, language)],
    context_sha256 !== undefined && [
      review.digest,
      <Copied key="digest" text={context_sha256} what={review.digest} />,
    ],
    image_ref !== undefined && [review.image, <Copied key="image" text={image_ref} what={review.image} />],
    reviewed_by !== undefined && [review.reviewedBy, <bdi key="by">{visible(reviewed_by)}</bdi>],
    reviewed_at !== undefined && [review.reviewedAt, <Time key="reviewed" at={reviewed_at} />],
    [review.id, <Copied key="id" text={submission.id} what={review.id} />],
  ];
  return (
    <Card title={review.facts}>
      <Facts rows={rows.filter((row) => row !== false)} />
    </Card>
  );
}
