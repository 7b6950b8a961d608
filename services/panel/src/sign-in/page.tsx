import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useLayoutEffect, useState } from "react";
import { host } from "../api/hosts.ts";
import { meKey, useMe } from "../api/session.ts";
import { Page } from "../ui/page.tsx";
import { loadWords, useFirstWords, useLanguage } from "../words/words.ts";
import { EmailStep } from "./email-step.tsx";
import { endFirstView, typedAddress } from "./first-view.ts";
import { GameCodeStep } from "./game-code-step.tsx";
import { MailCodeStep } from "./mail-code-step.tsx";
import { nextPath } from "./next-path.ts";
import { type OperatorLogin, OperatorStep } from "./operator-step.tsx";

// Most installations take no passwords.
const PasswordStep = lazy(() =>
  import("./password-step.tsx").then((module) => ({ default: module.PasswordStep })),
);

// Most installations have no provider, and what is loaded first stays small.
const ProviderButtons = lazy(() =>
  import("./provider-buttons.tsx").then((module) => ({ default: module.ProviderButtons })),
);

type Step = { kind: "email" | "code" | "game" | "password" } | { kind: "operator"; opened: OperatorLogin };

/** Every way to sign in on this host. */
export function SignInPage() {
  const { signIn } = useFirstWords();
  const { language } = useLanguage();
  const client = useQueryClient();
  const navigate = useNavigate();
  const me = useMe();
  const { next } = useSearch({ strict: false }) as { next?: unknown };
  const [email, setEmail] = useState(typedAddress);
  useLayoutEffect(endFirstView, []);
  const [step, setStep] = useState<Step>({ kind: "email" });
  const [takesPasswords, setTakesPasswords] = useState(false);
  const isSignedIn = me.data !== null && me.data !== undefined;
  useEffect(() => {
    if (isSignedIn) void navigate({ to: nextPath(next), replace: true });
  }, [isSignedIn, next, navigate]);
  const onDone = () => {
    loadWords(language).catch(() => undefined);
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
    password: title(),
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
          onOperator={(opened) => setStep({ kind: "operator", opened })}
          onGame={() => setStep({ kind: "game" })}
          others={
            <Suspense>
              <ProviderButtons next={nextPath(next)} />
            </Suspense>
          }
          onPasswords={setTakesPasswords}
        />
      )}
      {step.kind === "code" && <MailCodeStep email={email} onDone={onDone} onBack={onBack} />}
      {step.kind === "game" && <GameCodeStep onDone={onDone} onBack={onBack} />}
      {step.kind === "operator" && <OperatorStep opened={step.opened} onDone={onDone} onBack={onBack} />}
      {takesPasswords && (
        <Suspense>
          <PasswordStep
            isChosen={step.kind === "password"}
            onChoose={() => setStep({ kind: "password" })}
            onDone={onDone}
            onBack={onBack}
          />
        </Suspense>
      )}
    </Page>
  );
}
