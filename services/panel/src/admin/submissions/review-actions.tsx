import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Copied } from "../../ui/copied.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Form } from "../../ui/form.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { isolate } from "../../words/format.ts";
import { usePackWords } from "../../words/pack-words.ts";
import { useWords } from "../../words/words.ts";
import type { ReviewActs, Submission } from "./submissions-view.ts";

const changed = ["submissions.read", "submissions.list", "builds.listBuilds"] as const;
/** Most characters of a reason (docs/reference/submissions.md#review). */
const mostReason = 1_000;

type ReviewActionsProps = {
  submission: Submission;
  /** Digest of the context that the reviewer looked at. */
  reviewed: string | undefined;
  acts: ReviewActs;
  /** The service has another context than the one that was looked at. */
  onChanged: () => void;
};

/** Approves, rejects or deletes a pack. */
export function ReviewActions({ submission, reviewed, acts, onChanged }: ReviewActionsProps) {
  const { review } = usePackWords();
  const { reasons } = useWords();
  const toast = useToast();
  const approve = useAction("submissions.approve", changed);
  const [isApproving, setApproving] = useState(false);
  const [isRejecting, setRejecting] = useState(false);
  const { id, display_name } = submission;
  const name = isolate(display_name);
  const whyNot = acts.approve ? undefined : acts.isStale ? reasons.stale : reasons.notReviewable;
  const confirm = () => {
    if (reviewed === undefined) return;
    approve.mutate(
      { id, expected_digest: reviewed },
      {
        onSuccess: () => toast({ kind: "done", text: review.approved(name) }),
        onError: ({ code }) => {
          if (code !== "context_changed") return;
          toast({ kind: "failed", text: review.changedMeanwhile });
          onChanged();
        },
      },
    );
  };
  return (
    <>
      {approve.error?.code !== "context_changed" && <Failure error={approve.error} />}
      <Delete submission={submission} />
      {acts.reject && <Button onPress={() => setRejecting(true)}>{review.reject}</Button>}
      {acts.reject && (
        <Button
          kind="primary"
          whyNot={whyNot}
          isPending={approve.isPending}
          onPress={() => setApproving(true)}
        >
          {review.approve}
        </Button>
      )}
      {isRejecting && <Reject submission={submission} onClose={() => setRejecting(false)} />}
      <Confirm
        title={review.approveTitle(name)}
        action={review.approveAction}
        isOpen={isApproving && acts.approve}
        onClose={() => setApproving(false)}
        onConfirm={confirm}
      >
        <p>{review.approveHelp}</p>
        {reviewed !== undefined && (
          <div>
            {review.digest}: <Copied text={reviewed} what={review.digest} />
          </div>
        )}
      </Confirm>
    </>
  );
}

function Reject({ submission, onClose }: { submission: Submission; onClose: () => void }) {
  const { shell } = useWords();
  const { review } = usePackWords();
  const toast = useToast();
  const reject = useAction("submissions.reject", changed);
  const [reason, setReason] = useState("");
  const { id, display_name } = submission;
  const length = reason.trim().length;
  const isAllowed = length > 0 && length <= mostReason;
  const whyNot = length === 0 ? shell.fillIn : isAllowed ? undefined : review.reasonTooLong(mostReason);
  const submit = () => {
    if (!isAllowed || reject.isPending) return;
    reject.mutate(
      { id, reason: reason.trim() },
      {
        onSuccess: () => {
          toast({ kind: "done", text: review.rejected(isolate(display_name)) });
          onClose();
        },
      },
    );
  };
  return (
    <Dialog
      isOpen
      title={review.rejectTitle(isolate(display_name))}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{shell.cancel}</Button>
          <Button kind="danger" whyNot={whyNot} isPending={reject.isPending} onPress={submit}>
            {review.rejectAction}
          </Button>
        </>
      }
    >
      <p>{review.rejectHelp}</p>
      <Form onSubmit={submit}>
        <TextArea
          label={review.reason}
          name="reason"
          value={reason}
          onChange={setReason}
          rows={5}
          description={review.reasonLength(length, mostReason)}
          error={length > mostReason ? review.reasonTooLong(mostReason) : undefined}
        />
      </Form>
      <Failure error={reject.error} />
    </Dialog>
  );
}

function Delete({ submission }: { submission: Submission }) {
  const { review } = usePackWords();
  const navigate = useNavigate();
  const toast = useToast();
  // The page of the pack is left, so it is not read again.
  const remove = useAction("submissions.remove", ["submissions.list"]);
  const [isAsking, setAsking] = useState(false);
  const { id, display_name } = submission;
  const gone = () => {
    toast({ kind: "done", text: review.deleted(isolate(display_name)) });
    void navigate({ to: "/admin/submissions", ignoreBlocker: true });
  };
  return (
    <>
      <Failure error={remove.error} />
      <Button kind="danger" isPending={remove.isPending} onPress={() => setAsking(true)}>
        {review.delete}
      </Button>
      <Confirm
        title={review.deleteTitle(isolate(display_name))}
        action={review.deleteAction}
        typed={display_name}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate({ id }, { onSuccess: gone })}
      >
        <p>{review.deleteHelp}</p>
      </Confirm>
    </>
  );
}
