import { type ReactNode, useState } from "react";
import { call } from "../api/call.ts";
import { host, otherOrigin } from "../api/hosts.ts";
import { EmailForm } from "./email-form.tsx";
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
  others: ReactNode;
  /** Whether this installation takes passwords, once it was asked about an address. */
  onPasswords: (isOpen: boolean) => void;
};

/** The first step: a passkey, or an address that decides how it goes on. */
export function EmailStep(props: EmailStepProps) {
  const { email, setEmail, onDone, onMailed, onOperator, onGame, others, onPasswords } = props;
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
    <EmailForm
      host={host}
      otherAddress={`${otherOrigin}/login`}
      email={email}
      setEmail={setEmail}
      isRunning={attempt.isRunning}
      problem={attempt.problem}
      onSubmit={() => void attempt.run(goOn)}
      onPasskey={() => void finish(signInWithPasskey)}
      onGame={onGame}
      others={others}
    />
  );
}
