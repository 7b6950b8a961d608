import { useState, useSyncExternalStore } from "react";
import { useAction } from "../api/query.ts";
import { isOver } from "../files/upload/queue.ts";
import { addContext, cancelUploads, readUploads, subscribeUploads } from "../files/upload/uploads.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Copied } from "../ui/copied.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Failure } from "../ui/failure.tsx";
import { FileChooser } from "../ui/file-chooser.tsx";
import { Muted, Row } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { Status } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { useToast } from "../ui/toasts.tsx";
import { formatBytes, isolate } from "../words/format.ts";
import { usePackWords } from "../words/pack-words.ts";
import { visible } from "../words/visible.ts";
import { useLanguage } from "../words/words.ts";
import { PackPlan } from "./pack-plan.tsx";
import { lookOfStage, type Submission, stageOf } from "./pack-stage.ts";
import { PackUpload } from "./pack-upload.tsx";
import { type ChosenContext, readContext } from "./read-context.ts";
import styles from "./submissions.module.css";

/** One pack: where it stands, why, and what happens next. */
export function PackItem({ submission }: { submission: Submission }) {
  const { submissions, packPlan } = usePackWords();
  const { language } = useLanguage();
  const uploads = useSyncExternalStore(subscribeUploads, readUploads);
  const { id, display_name, created_at, context_bytes, context_sha256 } = submission;
  const upload = uploads.queue.items.find((item) => item.submission === id);
  const isUploading = upload !== undefined && !isOver(upload);
  const stage = stageOf(submission, isUploading);
  const isPending = submission.status === "pending_review";
  return (
    <li className={styles.pack}>
      <Row isSpread>
        <h3 className={styles.name}>
          <bdi>{visible(display_name)}</bdi>
        </h3>
        <Status look={lookOfStage[stage]} word={submissions.stages[stage]} isLive />
      </Row>
      <p>{submissions.next[stage]}</p>
      <Outcome submission={submission} />
      {submission.pack_format !== undefined && (
        <Disclosure summary={packPlan.title}>
          <PackPlan key={context_sha256} id={id} operation="submissions.readOwnPack" />
        </Disclosure>
      )}
      {upload && <PackUpload item={upload} uploads={uploads} />}
      <Row isSpread>
        <Muted>
          {submissions.createdAt} <Time at={created_at} />
          {context_bytes !== undefined && <> · {formatBytes(context_bytes, language)}</>}
          {context_sha256 !== undefined && (
            <>
              {" · "}
              <code title={context_sha256}>{context_sha256.slice(0, 12)}</code>{" "}
              <CopyButton text={context_sha256} what={submissions.digest} />
            </>
          )}
        </Muted>
        {isPending && <PackActs submission={submission} isUploading={isUploading} />}
      </Row>
    </li>
  );
}

/** What came of the review and of the build. */
function Outcome({ submission }: { submission: Submission }) {
  const { submissions } = usePackWords();
  const { reject_reason, build_status, build_error, image_ref, reviewed_at } = submission;
  return (
    <>
      {submission.status === "rejected" && (
        <Notice kind="failed">
          <strong>{submissions.reason}</strong>
          <p className={styles.reason}>{visible(reject_reason ?? "")}</p>
          {reviewed_at !== undefined && (
            <Muted>
              <Time at={reviewed_at} />
            </Muted>
          )}
        </Notice>
      )}
      {build_error !== undefined && (build_status === "failed" || build_status === undefined) && (
        <Notice kind="failed">
          <strong>{submissions.buildError}</strong>
          <p className={styles.reason}>{visible(build_error)}</p>
        </Notice>
      )}
      {build_status === "succeeded" && image_ref !== undefined && (
        <Row>
          <span>{submissions.image}</span>
          <Copied text={image_ref} what={submissions.image} />
        </Row>
      )}
    </>
  );
}

function PackActs({ submission, isUploading }: { submission: Submission; isUploading: boolean }) {
  const { submissions } = usePackWords();
  const { language } = useLanguage();
  const toast = useToast();
  const { id, display_name, context_sha256 } = submission;
  const withdraw = useAction("submissions.withdraw", ["submissions.listOwn"]);
  const [isAsking, setAsking] = useState(false);
  const [chosen, setChosen] = useState<ChosenContext>();
  const choose = async ([file]: readonly File[]) => {
    if (!file) return;
    const read = await readContext(file, undefined);
    setChosen(read);
    if (read.problem === undefined) addContext(id, file);
  };
  const confirm = () => {
    cancelUploads(readUploads().queue.items.filter((item) => item.submission === id));
    withdraw.mutate(
      { id },
      {
        onSuccess: () => toast({ kind: "done", text: submissions.withdrawn(isolate(display_name)) }),
      },
    );
  };
  return (
    <>
      <Row>
        {!isUploading && (
          <FileChooser
            isSingle
            accept=".tar.gz,.tgz,.mrpack,.zip,application/gzip,application/zip"
            label={(context_sha256 === undefined ? submissions.uploadOf : submissions.replaceOf)(
              isolate(display_name),
            )}
            onChoose={(files) => void choose(files)}
          >
            {context_sha256 === undefined ? submissions.upload : submissions.replace}
          </FileChooser>
        )}
        <Button
          label={submissions.withdrawOf(isolate(display_name))}
          isPending={withdraw.isPending}
          onPress={() => setAsking(true)}
        >
          {submissions.withdraw}
        </Button>
      </Row>
      {chosen?.problem !== undefined && (
        <Notice kind="failed" isAlert>
          {submissions.problems[chosen.problem](formatBytes(0, language))}
        </Notice>
      )}
      <Failure error={withdraw.error} />
      <Confirm
        title={submissions.withdrawTitle(isolate(display_name))}
        action={submissions.withdrawAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={confirm}
      >
        <p>{submissions.withdrawHelp}</p>
      </Confirm>
    </>
  );
}
