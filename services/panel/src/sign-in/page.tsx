import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { host } from "../api/hosts.ts";
import { meKey, useMe } from "../api/session.ts";
import { Page } from "../ui/page.tsx";
import { useWords } from "../words/words.ts";
import { EmailStep } from "./email-step.tsx";
import { GameCodeStep } from "./game-code-step.tsx";
import { MailCodeStep } from "./mail-code-step.tsx";
import { nextPath } from "./next-path.ts";
import { OperatorStep } from "./operator-step.tsx";

type Step = { kind: "email" } | { kind: "code" } | { kind: "game" } | { kind: "operator"; requestId: string };

/** Every way to sign in on this host. */
export function SignInPage() {
  const { signIn } = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const me = useMe();
  const { next } = useSearch({ strict: false }) as { next?: unknown };
  const [email, setEmail] = useState("");
  const [step, setStep] = useState<Step>({ kind: "email" });
  const isSignedIn = me.data !== null && me.data !== undefined;
  useEffect(() => {
    if (isSignedIn) void navigate({ to: nextPath(next), replace: true });
  }, [isSignedIn, next, navigate]);
  const onDone = () => {
    // Nothing of another person may be shown again; the answer to who is here leads on.
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== meKey[0] });
    void client.resetQueries({ queryKey: meKey });
  };
  const onBack = () => setStep({ kind: "email" });
  const titles = {
    email: title(),
    code: signIn.codeTitle,
    game: signIn.gameTitle,
    operator: signIn.operatorApprove,
  };
  function title() {
    return host === "operator" ? signIn.operatorTitle : signIn.title;
  }
  return (
    <Page title={titles[step.kind]} isNarrow>
      {step.kind === "email" && (
        <EmailStep
          email={email}
          setEmail={setEmail}
          onDone={onDone}
          onMailed={() => setStep({ kind: "code" })}
          onOperator={(requestId) => setStep({ kind: "operator", requestId })}
          onGame={() => setStep({ kind: "game" })}
        />
      )}
      {step.kind === "code" && <MailCodeStep email={email} onDone={onDone} onBack={onBack} />}
      {step.kind === "game" && <GameCodeStep onDone={onDone} onBack={onBack} />}
      {step.kind === "operator" && (
        <OperatorStep requestId={step.requestId} onDone={onDone} onBack={onBack} />
      )}
    </Page>
  );
}
