import { useState } from "react";
import { call } from "../api/call.ts";
import { poll, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Muted, Row } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { useWords } from "../words/words.ts";
import { MailedCodeField } from "./code-field.tsx";
import { StepForm } from "./form.tsx";
import { useAttempt } from "./use-attempt.ts";

/** An operator's sign-in: approved in the game by staff, finished with the code from the mail. */
export function OperatorStep(props: { requestId: string; onDone: () => void; onBack: () => void }) {
  const { requestId, onDone, onBack } = props;
  const { signIn } = useWords();
  const [code, setCode] = useState("");
  const attempt = useAttempt();
  const status = useOperation("signIn.readOpLoginStatus", { id: requestId }, { every: poll.busy });
  const isApproved = status.data?.approved === true;
  const finish = async () => {
    const isDone = await attempt.run(async () => {
      await call("signIn.finishOpLogin", { request_id: requestId, code });
    });
    if (isDone) onDone();
  };
  const command = `/felis web op approve ${requestId} NAME`;
  return (
    <StepForm onSubmit={() => void finish()} problem={attempt.problem}>
      <Muted>{signIn.operatorApproveHelp}</Muted>
      <Row>
        <code>{command}</code>
        <CopyButton text={command} what={signIn.operatorApprove} />
      </Row>
      <Muted>{signIn.operatorName}</Muted>
      <Notice kind={isApproved ? "done" : "waiting"}>
        <span role="status">{isApproved ? signIn.operatorApproved : signIn.operatorWaiting}</span>
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
