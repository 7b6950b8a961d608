import { KeyRound } from "lucide-react";
import { Button } from "../ui/button.tsx";
import { Card, Muted } from "../ui/layout.tsx";
import { useFirstWords } from "../words/words.ts";
import { deviceName } from "./device-name.ts";
import { StepForm } from "./form.tsx";
import { addPasskey } from "./passkey.ts";
import { useAttempt } from "./use-attempt.ts";

/** Binds a passkey to the account, named after the device. */
export function AddPasskey({ onDone }: { onDone: () => void }) {
  const { setup } = useFirstWords();
  const attempt = useAttempt();
  const add = async () => {
    if (await attempt.run(() => addPasskey(deviceName(navigator.userAgent)))) onDone();
  };
  return (
    <Card title={setup.passkeyTitle}>
      <StepForm onSubmit={() => void add()} problem={attempt.problem}>
        <Muted>{setup.passkeyHelp}</Muted>
        <Button
          kind="primary"
          type="submit"
          icon={<KeyRound size={18} aria-hidden />}
          isPending={attempt.isRunning}
        >
          {setup.passkeyAdd}
        </Button>
      </StepForm>
    </Card>
  );
}
