import { Dialog } from "../ui/dialog.tsx";
import { useWords } from "../words/words.ts";

/** Says over the page that the session has ended; `href` is where signing in leads back to. */
export function EndedDialog({ href, onClose }: { href: string; onClose: () => void }) {
  const { shell } = useWords();
  return (
    <Dialog
      isOpen
      title={shell.sessionEnded}
      onClose={onClose}
      actions={<a href={`/login?next=${encodeURIComponent(href)}`}>{shell.signInAgain}</a>}
    >
      <p>{shell.sessionEndedHelp}</p>
    </Dialog>
  );
}
