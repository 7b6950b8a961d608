import { useState } from "react";
import { call } from "../api/call.ts";
import { Button } from "../ui/button.tsx";
import { Card, Muted } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { useFirstWords } from "../words/words.ts";
import { GameCodeField } from "./code-field.tsx";
import { StepForm } from "./form.tsx";
import { useAttempt } from "./use-attempt.ts";

/** Links the player who reads a code at the login gate to the account. */
export function LinkPlayer({ onDone }: { onDone?: () => void }) {
  const { setup, shell, signIn } = useFirstWords();
  const attempt = useAttempt();
  const [code, setCode] = useState("");
  const [isLinked, setLinked] = useState(false);
  const link = async () => {
    const isDone = await attempt.run(async () => {
      await call("links.verifyLink", { code });
    });
    setLinked(isDone);
    if (isDone) onDone?.();
  };
  if (isLinked) return <Notice kind="done">{setup.linked}</Notice>;
  return (
    <Card title={setup.linkTitle}>
      <StepForm onSubmit={() => void link()} problem={attempt.problem}>
        <Muted>{setup.linkHelp}</Muted>
        <GameCodeField label={signIn.gameCode} name="game-code" value={code} onChange={setCode} />
        <Button
          type="submit"
          isPending={attempt.isRunning}
          whyNot={code.length < 8 ? shell.fillIn : undefined}
        >
          {setup.linkAdd}
        </Button>
      </StepForm>
    </Card>
  );
}
