import type { ReactNode } from "react";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Card, Facts, Row } from "../../ui/layout.tsx";
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
  const copied = (text: string, what: string) => (
    <Row>
      <code>{visible(text)}</code>
      <CopyButton text={text} what={what} />
    </Row>
  );
  const rows: (readonly [string, ReactNode] | false)[] = [
    [review.author, <bdi key="author">{visible(submission.submitted_by)}</bdi>],
    [review.createdAt, <Time key="at" at={submission.created_at} />],
    context_bytes !== undefined && [review.size, formatBytes(context_bytes, language)],
    context_sha256 !== undefined && [review.digest, copied(context_sha256, review.digest)],
    image_ref !== undefined && [review.image, copied(image_ref, review.image)],
    reviewed_by !== undefined && [review.reviewedBy, <bdi key="by">{visible(reviewed_by)}</bdi>],
    reviewed_at !== undefined && [review.reviewedAt, <Time key="reviewed" at={reviewed_at} />],
    [review.id, copied(submission.id, review.id)],
  ];
  return (
    <Card title={review.facts}>
      <Facts rows={rows.filter((row) => row !== false)} />
    </Card>
  );
}
