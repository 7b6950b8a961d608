import { useState } from "react";
import type { Grant } from "../access/presets.ts";
import { useAction } from "../api/query.ts";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { draftOf, grantOf, isEndAhead } from "./draft.ts";
import { GrantFields } from "./grant-fields.tsx";

type ChangeProps = {
  name: string;
  member: Grant & { id: string };
  /** The member's name. */
  shown: string;
  onClose: () => void;
};

/** Replaces rights, limits and end of a member. */
export function ChangeDialog({ name, member, shown, onClose }: ChangeProps) {
  const { sharing } = useWords();
  const toast = useToast();
  const change = useAction("members.change", ["members.list"]);
  const [draft, setDraft] = useState(() => draftOf(member));
  const [isSubmitted, setSubmitted] = useState(false);
  const isLate = !isEndAhead(draft, Date.now());
  const submit = () => {
    setSubmitted(true);
    if (isLate || change.isPending) return;
    change.mutate(
      { name, id: member.id, ...grantOf(draft) },
      {
        onSuccess: () => {
          toast({ kind: "done", text: sharing.changed(isolate(shown)) });
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title={sharing.changeTitle(isolate(shown))}
      action={sharing.changeAction}
      isPending={change.isPending}
      error={change.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <GrantFields draft={draft} onChange={setDraft} isLate={isSubmitted && isLate} />
    </FormDialog>
  );
}
