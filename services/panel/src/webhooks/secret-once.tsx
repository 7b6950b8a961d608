import { Button } from "../ui/button.tsx";
import { Copied } from "../ui/copied.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useWebhookWords } from "../words/webhook-words.ts";

/** An alert, so that a press beside it does not take the secret away. */
export function SecretOnce(props: { secret: string; help: string; onClose: () => void }) {
  const { secret, help, onClose } = props;
  const words = useWebhookWords();
  return (
    <Dialog
      isAlert
      isOpen
      title={words.secretTitle}
      onClose={onClose}
      actions={
        <Button kind="primary" onPress={onClose}>
          {words.secretDone}
        </Button>
      }
    >
      <p>{help}</p>
      <Copied text={secret} what={words.secretWord} />
    </Dialog>
  );
}
