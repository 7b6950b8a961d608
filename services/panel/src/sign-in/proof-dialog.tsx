import { useState } from "react";
import { call } from "../api/call.ts";
import { useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Muted } from "../ui/layout.tsx";
import { useFirstWords } from "../words/words.ts";
import { MailedCodeField } from "./code-field.tsx";
import { StepForm } from "./form.tsx";
import { proveWithPasskey } from "./passkey.ts";
import { useAttempt } from "./use-attempt.ts";

/** Asks for a fresh proof of identity; the request that needs it is then repeated. */
export function ProofDialog({ isOpen, onEnd }: { isOpen: boolean; onEnd: (proved: boolean) => void }) {
  const { shell } = useFirstWords();
  return (
    <Dialog
      title={shell.prove}
      isOpen={isOpen}
      onClose={() => onEnd(false)}
      actions={<Button onPress={() => onEnd(false)}>{shell.cancel}</Button>}
    >
      <Muted>{shell.proveHelp}</Muted>
      <Factors onProved={() => onEnd(true)} />
    </Dialog>
  );
}

function Factors({ onProved }: { onProved: () => void }) {
  const { shell } = useFirstWords();
  const status = useOperation("passkeys.reauthStatus", {});
  const [isMailed, setMailed] = useState(false);
  const [code, setCode] = useState("");
  const attempt = useAttempt();
  const factors = status.data?.factors ?? [];
  const prove = async (step: () => Promise<void>) => {
    if (await attempt.run(step)) onProved();
  };
  const verify = async () => {
    await call("passkeys.verifyReauthEmail", { code });
  };
  const mail = async () => {
    await call("passkeys.startReauthEmail", {});
    setMailed(true);
  };
  return (
    <StepForm onSubmit={() => void prove(verify)} problem={attempt.problem}>
      {factors.includes("passkey") && (
        <Button kind="primary" isPending={attempt.isRunning} onPress={() => void prove(proveWithPasskey)}>
          {shell.provePasskey}
        </Button>
      )}
      {factors.includes("email") && !isMailed && (
        <Button isPending={attempt.isRunning} onPress={() => void attempt.run(mail)}>
          {shell.proveMail}
        </Button>
      )}
      {isMailed && (
        <>
          <MailedCodeField label={shell.proveCode} name="code" value={code} onChange={setCode} autoFocus />
          <Button kind="primary" type="submit" isPending={attempt.isRunning}>
            {shell.confirm}
          </Button>
        </>
      )}
      {factors.includes("sign_in") && <Muted>{shell.proveSignIn}</Muted>}
    </StepForm>
  );
}
