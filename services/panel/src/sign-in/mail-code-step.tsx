import { useState } from "react";
import { call } from "../api/call.ts";
import { otherOrigin } from "../api/hosts.ts";
import { Button } from "../ui/button.tsx";
import { useCountdown } from "../ui/countdown.ts";
import { Muted, Row } from "../ui/layout.tsx";
import { formatClock, isolate } from "../words/format.ts";
import { useFirstWords } from "../words/words.ts";
import { MailedCodeField } from "./code-field.tsx";
import { StepForm } from "./form.tsx";
import { useAttempt } from "./use-attempt.ts";

const resendMs = 60_000;

/** Typing the six digits of the mail. */
export function MailCodeStep(props: { email: string; onDone: () => void; onBack: () => void }) {
  const { email, onDone, onBack } = props;
  const { signIn } = useFirstWords();
  const [code, setCode] = useState("");
  const [resendAt, setResendAt] = useState(() => Date.now() + resendMs);
  const wait = useCountdown(resendAt);
  const attempt = useAttempt();
  const verify = async () => {
    const isDone = await attempt.run(async () => {
      await call("signIn.verifyEmail", { email, code });
    });
    if (isDone) onDone();
  };
  const resend = () =>
    attempt.run(async () => {
      await call("signIn.startEmail", { email });
      setResendAt(Date.now() + resendMs);
    });
  const staffLink = attempt.code === "staff_account" && (
    <a href={`${otherOrigin}/login`}>{signIn.staffHost}</a>
  );
  return (
    <StepForm onSubmit={() => void verify()} problem={attempt.problem} aside={staffLink}>
      <Muted>{signIn.codeSent(isolate(email))}</Muted>
      <MailedCodeField label={signIn.code} name="code" value={code} onChange={setCode} isRequired autoFocus />
      <Button kind="primary" type="submit" isPending={attempt.isRunning}>
        {signIn.submit}
      </Button>
      <Row isSpread>
        <Button kind="quiet" isDisabled={wait > 0} onPress={() => void resend()}>
          {wait > 0 ? signIn.resendIn(formatClock(wait)) : signIn.resend}
        </Button>
        <Button kind="quiet" onPress={onBack}>
          {signIn.otherAddress}
        </Button>
      </Row>
    </StepForm>
  );
}
