import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { useWords } from "../words/words.ts";

type NameDialogProps = {
  title: string;
  label: string;
  description?: string;
  /** Verb and object. */
  action: string;
  first?: string;
  isAllowed: (name: string) => boolean;
  isPending: boolean;
  error: string | undefined;
  onClose: () => void;
  onDone: (name: string) => void;
};

/** Asks for a name or a path. What was refused stays in the field. */
export function NameDialog(props: NameDialogProps) {
  const {
    title,
    label,
    description,
    action,
    first = "",
    isAllowed,
    isPending,
    error,
    onClose,
    onDone,
  } = props;
  const { shell, files, reasons } = useWords();
  const [typed, setTyped] = useState(first);
  const [refused, setRefused] = useState<string>();
  const submit = () => {
    if (isPending) return;
    if (isAllowed(typed)) onDone(typed);
    else setRefused(typed);
  };
  const whyNot = typed !== first ? undefined : first === "" ? shell.fillIn : reasons.unchanged;
  const fault = refused === typed ? files.badName : error;
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{shell.cancel}</Button>
          <Button kind="primary" isPending={isPending} whyNot={whyNot} onPress={submit}>
            {action}
          </Button>
        </>
      }
    >
      <Form onSubmit={submit}>
        <Field
          label={label}
          name="name"
          value={typed}
          onChange={setTyped}
          error={fault}
          autoFocus
          {...(description !== undefined && { description })}
        />
      </Form>
    </Dialog>
  );
}
