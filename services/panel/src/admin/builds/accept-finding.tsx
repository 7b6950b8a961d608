import { useState } from "react";
import { useAction } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Choice } from "../../ui/choice.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { Time } from "../../ui/time.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { isolate } from "../../words/format.ts";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import { useWords } from "../../words/words.ts";
import { type Acceptance, canAccept, expiryOf, type Finding, packageOf } from "./findings.ts";

/** Most characters of a reason (docs/reference/builds.md#acceptances). */
const mostReason = 1_000;

type CurrentVerdictProps = { finding: Finding; acceptance: Acceptance | undefined; onAccept: () => void };

/** What became of a blocking finding since its build: accepted, or to be accepted. */
export function CurrentVerdict({ finding, acceptance, onAccept }: CurrentVerdictProps) {
  const { scan: words } = usePackWords();
  if (acceptance)
    return (
      <div title={visible(acceptance.reason)}>
        {words.acceptedSince(isolate(visible(acceptance.accepted_by)))} <Time at={acceptance.expires_at} />
      </div>
    );
  if (!canAccept(finding)) return null;
  const label = words.acceptOf(isolate(visible(finding.id)), isolate(visible(packageOf(finding))));
  return (
    <div>
      <Button label={label} onPress={onAccept}>
        {words.accept}
      </Button>
    </div>
  );
}

type AcceptFindingProps = { finding: Finding; repository: string; onClose: () => void };

/** Asks for reason, expiry and scope of an acceptance. */
export function AcceptFinding({ finding, repository, onClose }: AcceptFindingProps) {
  const { shell } = useWords();
  const { scan: words } = usePackWords();
  const toast = useToast();
  const accept = useAction("acceptances.addAcceptance", ["acceptances.listAcceptances"]);
  const [reason, setReason] = useState("");
  const [day, setDay] = useState("");
  const [scope, setScope] = useState<"repository" | "all">("repository");
  const [id, name] = [visible(finding.id), visible(packageOf(finding))].map(isolate) as [string, string];
  const length = [...reason.trim()].length;
  const expires_at = expiryOf(day, Date.now());
  const isAllowed = length > 0 && length <= mostReason && expires_at !== undefined;
  const submit = () => {
    if (!isAllowed || accept.isPending) return;
    const about = { finding_id: finding.id, package: packageOf(finding), reason, expires_at };
    accept.mutate(scope === "all" ? about : { ...about, repository }, {
      onSuccess: () => {
        toast({ kind: "done", text: words.acceptDone(id) });
        onClose();
      },
    });
  };
  return (
    <Dialog
      isOpen
      title={words.acceptTitle(id, name)}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{shell.cancel}</Button>
          <Button
            kind="danger"
            whyNot={isAllowed ? undefined : shell.fillIn}
            isPending={accept.isPending}
            onPress={submit}
          >
            {words.acceptAction}
          </Button>
        </>
      }
    >
      <p>{words.acceptHelp}</p>
      <Form onSubmit={submit}>
        <TextArea
          label={words.acceptReason}
          name="reason"
          value={reason}
          onChange={setReason}
          rows={3}
          description={words.acceptReasonLength(length, mostReason)}
        />
        <Field
          label={words.acceptUntil}
          name="until"
          type="date"
          value={day}
          onChange={setDay}
          description={words.acceptUntilHelp}
          error={day !== "" && expires_at === undefined ? words.acceptPast : undefined}
        />
        <Choice
          label={words.acceptFor}
          value={scope}
          onChange={setScope}
          options={[
            ["repository", words.acceptScopes.repository],
            ["all", words.acceptScopes.all],
          ]}
        />
      </Form>
      <Failure error={accept.error} />
    </Dialog>
  );
}
