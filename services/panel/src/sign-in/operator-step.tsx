import { useState } from "react";
import { call } from "../api/call.ts";
import { clockOffsetMs } from "../api/clock.ts";
import type { Output } from "../api/operations.ts";
import { poll, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { useCountdown } from "../ui/countdown.ts";
import { Muted, Row } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { useFirstWords } from "../words/words.ts";
import { MailedCodeField } from "./code-field.tsx";
import { StepForm } from "./form.tsx";
import { useAttempt } from "./use-attempt.ts";

export type OperatorLogin = Output<"signIn.startOpLogin">;

/** An operator's sign-in: approved in the game by staff, finished with the code from the mail. */
export function OperatorStep(props: { opened: OperatorLogin; onDone: () => void; onBack: () => void }) {
  const { opened, onDone, onBack } = props;
  const { request_id: requestId, expires_at } = opened;
  const { signIn } = useFirstWords();
  const [code, setCode] = useState("");
  const attempt = useAttempt();
  const isOver = useCountdown(Date.parse(expires_at) - clockOffsetMs()) === 0;
  const status = useOperation(
    "signIn.readOpLoginStatus",
    { id: requestId },
    { every: poll.busy, enabled: !isOver },
  );
  const isApproved = status.data?.approved === true;
  const finish = async () => {
    const isDone = await attempt.run(async () => {
      await call("signIn.finishOpLogin", { request_id: requestId, code });
    });
    if (isDone) onDone();
  };
  const note = isApproved ? signIn.operatorApproved : signIn.operatorWaiting;
  const command = `/felis web op approve ${requestId} NAME`;
  return (
    <StepForm onSubmit={() => void finish()} problem={attempt.problem}>
      <Muted>{signIn.operatorApproveHelp}</Muted>
      <Row>
        <code>{command}</code>
        <CopyButton text={command} what={signIn.operatorApprove} />
      </Row>
      <Muted>{signIn.operatorName}</Muted>
      <Notice kind={isOver ? "failed" : isApproved ? "done" : "waiting"}>
        <span role="status">{isOver ? signIn.operatorOver : note}</span>
      </Notice>
      <MailedCodeField label={signIn.code} name="code" value={code} onChange={setCode} isRequired />
      <Button kind="primary" type="submit" isPending={attempt.isRunning}>
        {signIn.submit}
      </Button>
      <Button kind="quiet" onPress={onBack}>
        {signIn.otherAddress}
      </Button>
    </StepForm>
  );
}
