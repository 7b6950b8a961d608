import type { ReactNode } from "react";
import type { ApiError } from "../api/error.ts";
import { useWords } from "../words/words.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Failure } from "./failure.tsx";
import { Form } from "./form.tsx";

type FormDialogProps = {
  title: string;
  /** What the button says that submits it. */
  action: string;
  onSubmit: () => void;
  onClose: () => void;
  isPending: boolean;
  /** Why it cannot be submitted yet. */
  whyNot?: string | undefined;
  /** Shown above the form, unless a field shows it. */
  error?: ApiError | null;
  /** What it is about, above the form. */
  about?: ReactNode;
  children: ReactNode;
};

/** A dialog around one form, which its button and Enter submit. */
export function FormDialog(props: FormDialogProps) {
  const { title, action, onSubmit, onClose, isPending, whyNot, error = null, about, children } = props;
  const { shell } = useWords();
  return (
    <Dialog
      isOpen
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{shell.cancel}</Button>
          <Button kind="primary" isPending={isPending} whyNot={whyNot} onPress={onSubmit}>
            {action}
          </Button>
        </>
      }
    >
      {about}
      <Failure error={error} />
      <Form onSubmit={onSubmit} hasOuterButton>
        {children}
      </Form>
    </Dialog>
  );
}
