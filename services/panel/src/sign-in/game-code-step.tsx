import { useState } from "react";
import { call } from "../api/call.ts";
import { otherOrigin } from "../api/hosts.ts";
import { Button } from "../ui/button.tsx";
import { Muted } from "../ui/layout.tsx";
import { useFirstWords } from "../words/words.ts";
import { GameCodeField } from "./code-field.tsx";
import { StepForm } from "./form.tsx";
import { useAttempt } from "./use-attempt.ts";

/** Signing in with the code that the login gate shows. */
export function GameCodeStep({ onDone, onBack }: { onDone: () => void; onBack: () => void }) {
  const { signIn } = useFirstWords();
  const [code, setCode] = useState("");
  const attempt = useAttempt();
  const bind = async () => {
    const isDone = await attempt.run(async () => {
      await call("links.bind", { code });
    });
    if (isDone) onDone();
  };
  return (
    <StepForm
      onSubmit={() => void bind()}
      problem={attempt.problem}
      aside={attempt.code === "staff_account" && <a href={`${otherOrigin}/login`}>{signIn.staffHost}</a>}
    >
      <Muted>{signIn.gameHelp}</Muted>
      <GameCodeField
        label={signIn.gameCode}
        name="game-code"
        value={code}
        onChange={setCode}
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
