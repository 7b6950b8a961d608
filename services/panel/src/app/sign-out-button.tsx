import { LogOut } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useAction } from "../api/query.ts";
import { forgetSession } from "../api/sign-out.ts";
import { hasKeptUploads } from "../files/upload/kept-names.ts";
import { Button } from "../ui/button.tsx";
import { useWords } from "../words/words.ts";

// Sign-in loads this file too (docs/reference/panel.md#budgets).
const Confirm = lazy(() => import("../ui/confirm.tsx").then((module) => ({ default: module.Confirm })));

/** The way out. Uploads end with the session, so it asks while there are any. */
export function SignOutButton() {
  const { shell, uploads } = useWords();
  const signOut = useAction("accounts.logout");
  const [isAsking, setAsking] = useState(false);
  const act = () => signOut.mutate({}, { onSuccess: forgetSession });
  return (
    <>
      <Button
        icon={<LogOut size={16} aria-hidden />}
        isPending={signOut.isPending}
        onPress={() => (hasKeptUploads() ? setAsking(true) : act())}
      >
        {shell.signOut}
      </Button>
      {isAsking && (
        <Suspense fallback={null}>
          <Confirm
            isOpen
            title={uploads.signOutTitle}
            action={shell.signOut}
            onClose={() => setAsking(false)}
            onConfirm={act}
          >
            <p>{uploads.signOutHelp}</p>
          </Confirm>
        </Suspense>
      )}
    </>
  );
}
