import { LogOut } from "lucide-react";
import { useState } from "react";
import { useAction } from "../api/query.ts";
import { forgetSession } from "../api/sign-out.ts";
import { hasKeptUploads } from "../files/upload/kept-names.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { useWords } from "../words/words.ts";

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
      <Confirm
        title={uploads.signOutTitle}
        action={shell.signOut}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={act}
      >
        <p>{uploads.signOutHelp}</p>
      </Confirm>
    </>
  );
}
