import { type ReactNode, useState } from "react";
import { isolate } from "../words/format.ts";
import { useFirstWords } from "../words/words.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Field } from "./field.tsx";
import { Form } from "./form.tsx";
import { confirmField } from "./typed-text.ts";

type ConfirmProps = {
  title: string;
  /** What it costs and what stays. */
  children: ReactNode;
  /** Verb and object, such as "Delete the server". */
  action: string;
  isOpen: boolean;
  onClose: () => void;
  onConfirm: () => void;
  /** For what cannot be undone: the person types this first. */
  typed?: string;
};

/** Asks before something is done that costs somebody something. */
export function Confirm(props: ConfirmProps) {
  // The text that was typed goes with the dialog.
  return props.isOpen ? <OpenConfirm {...props} /> : null;
}

function OpenConfirm({ title, children, action, onClose, onConfirm, typed }: ConfirmProps) {
  const { shell } = useFirstWords();
  const [text, setText] = useState("");
  const isAllowed = typed === undefined || text === typed;
  const act = () => {
    if (!isAllowed) return;
    onClose();
    onConfirm();
  };
  return (
    <Dialog
      isAlert
      isOpen
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose} autoFocus={typed === undefined}>
            {shell.cancel}
          </Button>
          <Button kind="danger" isDisabled={!isAllowed} onPress={act}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {typed !== undefined && (
        <Form onSubmit={act}>
          <Field
            label={shell.typeToConfirm(isolate(typed))}
            name={confirmField}
            value={text}
            onChange={setText}
            autoFocus
          />
        </Form>
      )}
    </Dialog>
  );
}
