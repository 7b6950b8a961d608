import { useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { sessionSignals } from "../api/session-signals.ts";
import { createPart } from "./part.tsx";

// Few need them, and everybody loads this file first (docs/reference/panel.md#budgets).
const ProofDialog = createPart(async () => (await import("../sign-in/proof-dialog.tsx")).ProofDialog);
const EndedDialog = createPart(async () => (await import("./ended-dialog.tsx")).EndedDialog);

/** What can happen to a session while a page is open; `onRenewed` is told when it goes on with a new one. */
export function SessionDialogs({ onRenewed }: { onRenewed: () => void }) {
  const navigate = useNavigate();
  const { href } = useLocation();
  const [hasEnded, setEnded] = useState(false);
  const [isProving, setProving] = useState(false);
  const settle = useRef<(proved: boolean) => void>(() => undefined);
  useEffect(
    () =>
      sessionSignals.listen({
        sessionEnded: () => setEnded(true),
        setupRequired: () => void navigate({ to: "/setup", ignoreBlocker: true }),
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
  const renew = () => {
    setEnded(false);
    onRenewed();
  };
  return (
    <>
      {isProving && <ProofDialog isOpen onEnd={endProof} onMissing={() => endProof(false)} />}
      {hasEnded && (
        <EndedDialog
          href={href}
          onClose={() => setEnded(false)}
          onRenewed={renew}
          onMissing={() => setEnded(false)}
        />
      )}
    </>
  );
}
