import { useState } from "react";
import { call } from "../api/call.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Muted } from "../ui/layout.tsx";
import { usePasswordWords } from "../words/password-words.ts";
import { useFirstWords } from "../words/words.ts";
import { StepForm } from "./form.tsx";
import { useAttempt } from "./use-attempt.ts";

type PasswordStepProps = {
  /** The person chose this way. */
  isChosen: boolean;
  onChoose: () => void;
  onDone: () => void;
  onBack: () => void;
};

/** Signing in with a password, where the installation takes them: first only the way there. */
export function PasswordStep({ isChosen, onChoose, onDone, onBack }: PasswordStepProps) {
  const words = usePasswordWords();
  if (isChosen) return <PasswordForm onDone={onDone} onBack={onBack} />;
  return (
    <Button kind="quiet" onPress={onChoose}>
      {words.offer}
    </Button>
  );
}

function PasswordForm({ onDone, onBack }: Pick<PasswordStepProps, "onDone" | "onBack">) {
  const { shell, signIn } = useFirstWords();
  const words = usePasswordWords();
  const attempt = useAttempt();
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const submit = async () => {
    const isDone = await attempt.run(async () => {
      await call("signIn.passwordLogin", { username, password });
    });
    if (isDone) onDone();
  };
  return (
    <StepForm
      onSubmit={() => void submit()}
      problem={attempt.code === "unauthorized" ? words.wrong : attempt.problem}
    >
      <Muted>{words.help}</Muted>
      <Field
        label={words.userName}
        name="username"
        value={username}
        onChange={(typed) => setUsername(typed.trim())}
        autoComplete="username"
        isRequired
        autoFocus
      />
      <Field
        label={words.password}
        name="password"
        type="password"
        value={password}
        onChange={setPassword}
        autoComplete="current-password"
        isRequired
      />
      <Button
        kind="primary"
        type="submit"
        isPending={attempt.isRunning}
        whyNot={username === "" || password === "" ? shell.fillIn : undefined}
      >
        {signIn.submit}
      </Button>
      <Button kind="quiet" onPress={onBack}>
        {signIn.back}
      </Button>
    </StepForm>
  );
}
