import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { addressOf } from "../../api/address.ts";
import { poll, useOperation, useRefresh } from "../../api/query.ts";
import { PackPlan } from "../../submissions/pack-plan.tsx";
import { Button } from "../../ui/button.tsx";
import { DownloadLink } from "../../ui/download-link.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Row, Split } from "../../ui/layout.tsx";
import { Link } from "../../ui/link.tsx";
import { Loading } from "../../ui/loading.tsx";
import { NotFoundPage } from "../../ui/not-found-page.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Page as PageFrame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import styles from "../packs.module.css";
import { Contents } from "./contents.tsx";
import { ReviewActions } from "./review-actions.tsx";
import { ReviewFacts } from "./review-facts.tsx";
import { decideReview, isSubmissionId, lookOfSubmission, type Submission } from "./submissions-view.ts";
import { Suspicions } from "./suspicions-card.tsx";

/** One pack as its reviewer sees it. */
export function Page() {
  const { review } = usePackWords();
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const options = { enabled: isSubmissionId(id), every: poll.status };
  const { data: submission, error, refetch } = useOperation("submissions.read", { id }, options);
  if (!isSubmissionId(id) || error?.code === "not_found") return <NotFoundPage title={review.notFound} />;
  if (!submission) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  return <Review key={id} submission={submission} />;
}

function Review({ submission }: { submission: Submission }) {
  const { review, packPlan } = usePackWords();
  const refresh = useRefresh();
  const { id, display_name, status, context_sha256 } = submission;
  // What the reviewer looks at. Another context does not slip into its place.
  const [reviewed, setReviewed] = useState(context_sha256);
  const acts = decideReview(submission, reviewed);
  const lookAgain = () => {
    setReviewed(context_sha256);
    refresh([
      "submissions.read",
      "submissions.readPack",
      "submissions.listContextEntries",
      "submissions.readContextFile",
    ]);
  };
  if (reviewed === undefined && context_sha256 !== undefined) setReviewed(context_sha256);
  return (
    <PageFrame
      title={display_name}
      parts={[display_name, review.title]}
      aside={<Status look={lookOfSubmission[status]} word={review.states[status]} isLive />}
      actions={
        <Row>
          {context_sha256 !== undefined && (
            <DownloadLink href={addressOf("submissions.downloadContext", { id })} filename={`${id}.tar.gz`}>
              {review.download}
            </DownloadLink>
          )}
          <ReviewActions submission={submission} reviewed={reviewed} acts={acts} onChanged={lookAgain} />
        </Row>
      }
    >
      {acts.isStale && (
        <Notice kind="waiting" isAlert actions={<Button onPress={lookAgain}>{review.lookAgain}</Button>}>
          {review.stale}
        </Notice>
      )}
      <ReviewOutcome submission={submission} />
      <Split aside={<ReviewFacts submission={submission} />}>
        {context_sha256 === undefined ? (
          <Notice>{review.noContext}</Notice>
        ) : (
          <Suspicions key={reviewed} id={id} />
        )}
      </Split>
      {submission.pack_format !== undefined && (
        <Card title={packPlan.title}>
          <PackPlan key={reviewed} id={id} operation="submissions.readPack" />
        </Card>
      )}
      {context_sha256 !== undefined && <Contents key={reviewed} id={id} />}
    </PageFrame>
  );
}

/** What came of a review that is over. */
function ReviewOutcome({ submission }: { submission: Submission }) {
  const { review } = usePackWords();
  const { status, build_id, reject_reason } = submission;
  if (status === "approved")
    return (
      <Notice
        kind="done"
        actions={build_id !== undefined && <Link to={`/admin/builds/${build_id}`}>{review.toBuild}</Link>}
      >
        {build_id === undefined ? review.approvedWaiting : review.approvedBuilt}
      </Notice>
    );
  if (status !== "rejected") return null;
  return (
    <Notice kind="failed">
      <strong>{review.rejectedBecause}</strong>
      <p className={styles.lines}>{visible(reject_reason ?? "")}</p>
    </Notice>
  );
}
