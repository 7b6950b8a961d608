import { KeyRound } from "lucide-react";
import { useState } from "react";
import { call } from "../api/call.ts";
import { host, otherOrigin } from "../api/hosts.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Muted } from "../ui/layout.tsx";
import { useFirstWords } from "../words/words.ts";
import { StepForm } from "./form.tsx";
import type { OperatorLogin } from "./operator-step.tsx";
import { PasskeyError, signInWithPasskey, signInWithPasskeyOf } from "./passkey.ts";
import { useAttempt } from "./use-attempt.ts";

type EmailStepProps = {
  email: string;
  setEmail: (email: string) => void;
  onDone: () => void;
  /** A code is on its way to the address. */
  onMailed: () => void;
  /** An operator login was opened. */
  onOperator: (opened: OperatorLogin) => void;
  onGame: () => void;
  /** Whether this installation takes passwords, once it was asked about an address. */
  onPasswords: (isOpen: boolean) => void;
};

/** The first step: a passkey, or an address that decides how it goes on. */
export function EmailStep(props: EmailStepProps) {
  const { email, setEmail, onDone, onMailed, onOperator, onGame, onPasswords } = props;
  const { shell, signIn } = useFirstWords();
  const attempt = useAttempt();
  const [declined, setDeclined] = useState("");
  const finish = async (step: () => Promise<void>) => {
    if (await attempt.run(step)) onDone();
  };
  const mail = async () => {
    if (host === "operator") {
      onOperator(await call("signIn.startOpLogin", { email }));
      return;
    }
    await call("signIn.startEmail", { email });
    onMailed();
  };
  const goOn = async () => {
    const { methods, password = false } = await call("signIn.options", { email });
    onPasswords(password);
    // Who broke off the passkey of this address once gets the code.
    if (!methods.includes("passkey") || declined === email) return void (await mail());
    try {
      await signInWithPasskeyOf(email);
    } catch (error) {
      if (error instanceof PasskeyError) setDeclined(email);
      throw error;
    }
    onDone();
  };
  return (
    <StepForm onSubmit={() => void attempt.run(goOn)} problem={attempt.problem}>
      <Button
        icon={<KeyRound size={18} aria-hidden />}
        isPending={attempt.isRunning}
        onPress={() => void finish(signInWithPasskey)}
      >
        {signIn.passkey}
      </Button>
      <Field
        label={signIn.email}
        name="email"
        type="email"
        inputMode="email"
        value={email}
        onChange={(typed) => setEmail(typed.trim())}
        autoComplete="username webauthn"
        isRequired
      />
      <Button
        kind="primary"
        type="submit"
        isPending={attempt.isRunning}
        whyNot={email === "" ? shell.fillIn : undefined}
      >
        {signIn.next}
      </Button>
      {host === "player" && (
        <Button kind="quiet" onPress={onGame}>
          {signIn.game}
        </Button>
      )}
      {host === "operator" && <Muted>{signIn.operatorHelp}</Muted>}
      <a href={`${otherOrigin}/login`}>{host === "operator" ? signIn.playerHost : signIn.staffHost}</a>
    </StepForm>
  );
}
