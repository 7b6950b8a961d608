import { type ShouldBlockFn, useBlocker } from "@tanstack/react-router";
import { useWords } from "../words/words.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

type LeaveDialogProps = {
  /** Whether this change of the address would cost something; asked at that moment. */
  costs: ShouldBlockFn;
  /** Whether the browser asks as well before the tab is closed or loaded anew; asked at that moment. */
  asksOnUnload: () => boolean;
};

/** Asks before typed text is lost on links of the panel and on going back. */
export function LeaveDialog({ costs, asksOnUnload }: LeaveDialogProps) {
  const { leaving, shell } = useWords();
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: costs,
    enableBeforeUnload: asksOnUnload,
    withResolver: true,
  });
  // Not a Confirm: that closes first, and closing is staying.
  return (
    <Dialog
      isAlert
      isOpen={status === "blocked"}
      title={leaving.title}
      onClose={() => reset?.()}
      actions={
        <>
          <Button onPress={() => reset?.()} autoFocus>
            {shell.cancel}
          </Button>
          <Button kind="danger" onPress={() => proceed?.()}>
            {leaving.leave}
          </Button>
        </>
      }
    >
      <p>{leaving.help}</p>
    </Dialog>
  );
}
