import { useState } from "react";
import { useAction } from "../api/query.ts";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Stack } from "../ui/layout.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { useSshKeyWords } from "../words/ssh-key-words.ts";

/** Asks for a public key and adds it to the caller's account. */
export function NewSshKey({ onClose }: { onClose: () => void }) {
  const words = useSshKeyWords();
  const add = useAction("sshKeys.add", ["sshKeys.list"]);
  const [line, setLine] = useState("");
  const [name, setName] = useState("");
  const [isSubmitted, setSubmitted] = useState(false);
  const wrong = whatIsWrong(line, words);
  const submit = () => {
    setSubmitted(true);
    if (wrong !== undefined) return;
    const called = name.trim();
    add.mutate({ public_key: line.trim(), ...(called !== "" && { name: called }) }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={words.add}
      action={words.addAction}
      isPending={add.isPending}
      error={add.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Stack>
        <TextArea
          label={words.publicKey}
          name="public-key"
          description={words.publicKeyHelp}
          value={line}
          onChange={setLine}
          rows={4}
          error={isSubmitted ? wrong : undefined}
        />
        <Field
          label={words.keyName}
          name="key-name"
          description={words.keyNameHelp}
          value={name}
          onChange={setName}
          maxLength={64}
        />
      </Stack>
    </FormDialog>
  );
}

/** A private key is never sent. */
function whatIsWrong(line: string, words: ReturnType<typeof useSshKeyWords>): string | undefined {
  if (line.trim() === "") return words.publicKeyMissing;
  return line.includes("PRIVATE KEY") ? words.isPrivate : undefined;
}
