import { LogOut } from "lucide-react";
import { useState } from "react";
import { useAction } from "../api/query.ts";
import { forgetSession } from "../api/sign-out.ts";
import { hasKeptUploads } from "../files/upload/kept-names.ts";
import { Button } from "../ui/button.tsx";
import { hasTypedText } from "../ui/typed-text.ts";
import { useWords } from "../words/words.ts";
import { createPart } from "./part.tsx";

// Sign-in loads this file too (docs/reference/panel.md#budgets).
const Confirm = createPart(async () => (await import("../ui/confirm.tsx")).Confirm);

/** The way out. Uploads and typed text end with the session, so it asks while there are any. */
export function SignOutButton() {
  const { shell, uploads, leaving } = useWords();
  const signOut = useAction("accounts.logout");
  const [asked, setAsked] = useState<{ uploads: boolean; text: boolean }>();
  const act = () => signOut.mutate({}, { onSuccess: forgetSession });
  const ask = () => {
    const costs = { uploads: hasKeptUploads(), text: hasTypedText() };
    if (costs.uploads || costs.text) setAsked(costs);
    else act();
  };
  return (
    <>
      <Button icon={<LogOut size={16} aria-hidden />} isPending={signOut.isPending} onPress={ask}>
        {shell.signOut}
      </Button>
      {asked && (
        <Confirm
          isOpen
          title={asked.uploads ? uploads.signOutTitle : leaving.signOutTitle}
          action={shell.signOut}
          onClose={() => setAsked(undefined)}
          onConfirm={act}
          onMissing={() => setAsked(undefined)}
        >
          {asked.uploads && <p>{uploads.signOutHelp}</p>}
          {asked.text && <p>{leaving.help}</p>}
        </Confirm>
      )}
    </>
  );
}
