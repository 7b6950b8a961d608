import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { call } from "../api/call.ts";
import { type Me, meKey } from "../api/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { forgetTypedText } from "../ui/typed-text.ts";
import { useFirstWords } from "../words/words.ts";

type EndedDialogProps = {
  /** Where signing in leads back to. */
  href: string;
  onClose: () => void;
  /** The same person has signed in, in another tab. */
  onRenewed: () => void;
};

/** Says over the page that the session has ended; who signs in beside it goes on where they were. */
export function EndedDialog({ href, onClose, onRenewed }: EndedDialogProps) {
  const { shell } = useFirstWords();
  useRenewal(onRenewed);
  const address = `/login?next=${encodeURIComponent(href)}`;
  return (
    <Dialog
      isOpen
      title={shell.sessionEnded}
      onClose={onClose}
      actions={
        <>
          <a href={address} target="_blank" rel="noopener">
            {shell.signInBeside}
          </a>
          <a href={address}>{shell.signInAgain}</a>
        </>
      }
    >
      <p>{shell.sessionEndedHelp}</p>
    </Dialog>
  );
}

/** Looks whether there is a session again whenever somebody comes back to this tab. */
function useRenewal(onRenewed: () => void): void {
  const client = useQueryClient();
  const look = useEffectEvent(async () => {
    if (document.visibilityState !== "visible") return;
    const now = await call("accounts.me", {}).catch(() => undefined);
    if (!now) return;
    const before = client.getQueryData<Me | null>(meKey);
    // What this page shows belongs to somebody else.
    if (before && before.user_id !== now.user_id) {
      forgetTypedText();
      return location.reload();
    }
    void client.invalidateQueries();
    onRenewed();
  });
  useEffect(() => {
    const listener = () => void look();
    window.addEventListener("focus", listener);
    document.addEventListener("visibilitychange", listener);
    return () => {
      window.removeEventListener("focus", listener);
      document.removeEventListener("visibilitychange", listener);
    };
  }, []);
}
