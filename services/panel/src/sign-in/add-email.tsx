import { useState } from "react";
import { call } from "../api/call.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Card, Muted } from "../ui/layout.tsx";
import { useFirstWords } from "../words/words.ts";
import { MailedCodeField } from "./code-field.tsx";
import { StepForm } from "./form.tsx";
import { useAttempt } from "./use-attempt.ts";

/** Verifies an e-mail address of the account with a mailed code. */
export function AddEmail({ onDone }: { onDone: () => void }) {
  const { setup, shell, signIn } = useFirstWords();
  const attempt = useAttempt();
  const [email, setEmail] = useState("");
  const [isMailed, setMailed] = useState(false);
  const [code, setCode] = useState("");
  const submit = async () => {
    if (!isMailed) {
      const isSent = await attempt.run(async () => {
        await call("accounts.startEmail", { email });
      });
      setMailed(isSent);
      return;
    }
    const isDone = await attempt.run(async () => {
      await call("accounts.verifyEmail", { code });
    });
    if (isDone) onDone();
  };
  return (
    <Card title={setup.emailTitle}>
      <StepForm onSubmit={() => void submit()} problem={attempt.problem}>
        <Muted>{setup.emailHelp}</Muted>
        <Field
          label={signIn.email}
          name="email"
          type="email"
          inputMode="email"
          value={email}
          onChange={(typed) => setEmail(typed.trim())}
          autoComplete="email"
          isDisabled={isMailed}
        />
        {isMailed && (
          <MailedCodeField label={signIn.code} name="code" value={code} onChange={setCode} autoFocus />
        )}
        <Button type="submit" isPending={attempt.isRunning} whyNot={email === "" ? shell.fillIn : undefined}>
          {isMailed ? setup.emailVerify : setup.emailSend}
        </Button>
      </StepForm>
    </Card>
  );
}
