import { useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { sessionSignals } from "../api/session-signals.ts";
import { ProofDialog } from "../sign-in/proof-dialog.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useWords } from "../words/words.ts";

/** What can happen to a session while a page is open. */
export function SessionDialogs() {
  const { shell } = useWords();
  const navigate = useNavigate();
  const { href } = useLocation();
  const [hasEnded, setEnded] = useState(false);
  const [isProving, setProving] = useState(false);
  const settle = useRef<(proved: boolean) => void>(() => undefined);
  useEffect(
    () =>
      sessionSignals.listen({
        sessionEnded: () => setEnded(true),
        setupRequired: () => void navigate({ to: "/setup" }),
        requestProof: () => {
          setProving(true);
          return new Promise((resolve) => {
            settle.current = resolve;
          });
        },
      }),
    [navigate],
  );
  const endProof = (proved: boolean) => {
    setProving(false);
    settle.current(proved);
  };
  return (
    <>
      <ProofDialog isOpen={isProving} onEnd={endProof} />
      <Dialog
        title={shell.sessionEnded}
        isOpen={hasEnded}
        onClose={() => setEnded(false)}
        actions={<a href={`/login?next=${encodeURIComponent(href)}`}>{shell.signInAgain}</a>}
      >
        <p>{shell.sessionEndedHelp}</p>
      </Dialog>
    </>
  );
}
