import { KeyRound } from "lucide-react";
import type { ReactNode } from "react";
import type { host } from "../api/hosts.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Muted } from "../ui/layout.tsx";
import { useFirstWords } from "../words/words.ts";
import { StepForm } from "./form.tsx";

type EmailFormProps = {
  host: typeof host;
  /** Sign-in of the other host. */
  otherAddress: string;
  email: string;
  setEmail: (email: string) => void;
  isRunning: boolean;
  problem: string | undefined;
  onSubmit: () => void;
  onPasskey: () => void;
  onGame: () => void;
  /** More ways in, which not every installation has. */
  others?: ReactNode;
};

/** What the first step looks like; the document shows it before the scripts are there, so it asks nothing of the page. */
export function EmailForm(props: EmailFormProps) {
  const { host, otherAddress, email, setEmail, isRunning, problem, onSubmit, onPasskey, onGame, others } =
    props;
  const { shell, signIn } = useFirstWords();
  return (
    <StepForm onSubmit={onSubmit} problem={problem}>
      <Button icon={<KeyRound size={18} aria-hidden />} isPending={isRunning} onPress={onPasskey}>
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
        isPending={isRunning}
        whyNot={email === "" ? shell.fillIn : undefined}
      >
        {signIn.next}
      </Button>
      {host === "player" && (
        <Button kind="quiet" onPress={onGame}>
          {signIn.game}
        </Button>
      )}
      {others}
      {host === "operator" && <Muted>{signIn.operatorHelp}</Muted>}
      <a href={otherAddress}>{host === "operator" ? signIn.playerHost : signIn.staffHost}</a>
    </StepForm>
  );
}
