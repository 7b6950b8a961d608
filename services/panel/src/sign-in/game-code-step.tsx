import { useState } from "react";
import { call } from "../api/call.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Muted } from "../ui/layout.tsx";
import { useWords } from "../words/words.ts";
import { gameCode } from "./code.ts";
import { StepForm } from "./form.tsx";
import { useAttempt } from "./use-attempt.ts";

/** Signing in with the code that the login gate shows. */
export function GameCodeStep({ onDone, onBack }: { onDone: () => void; onBack: () => void }) {
  const { signIn } = useWords();
  const [code, setCode] = useState("");
  const attempt = useAttempt();
  const bind = async () => {
    const isDone = await attempt.run(async () => {
      await call("links.bind", { code });
    });
    if (isDone) onDone();
  };
  return (
    <StepForm onSubmit={() => void bind()} problem={attempt.problem}>
      <Muted>{signIn.gameHelp}</Muted>
      <Field
        label={signIn.gameCode}
        name="game-code"
        value={code}
        onChange={(typed) => setCode(gameCode(typed))}
        isCode
        isRequired
        autoFocus
      />
      <Button kind="primary" type="submit" isPending={attempt.isRunning}>
        {signIn.submit}
      </Button>
      <Button kind="quiet" onPress={onBack}>
        {signIn.back}
      </Button>
    </StepForm>
  );
}
