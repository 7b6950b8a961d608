import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { KeyList } from "../../ui/key-list.tsx";
import { Muted } from "../../ui/layout.tsx";
import { useWords } from "../../words/words.ts";
import { isMac } from "./platform.ts";
import { setSingleKeys, useSingleKeys } from "./single-keys.ts";

/** All shortcuts, and the switch for those of a single key. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const { shell, keys } = useWords();
  const hasSingle = useSingleKeys();
  const modifier = isMac ? "⌘" : keys.names.control;
  const single = [
    [["/"], keys.find],
    [["?"], keys.help],
  ] as const;
  return (
    <Dialog
      title={keys.title}
      isOpen
      onClose={onClose}
      actions={
        <Button onPress={onClose} autoFocus>
          {shell.close}
        </Button>
      }
    >
      <KeyList
        rows={[
          [[modifier, "K"], keys.palette],
          ...(hasSingle ? single : []),
          [[keys.names.escape], keys.close],
          [[keys.names.up, keys.names.down], keys.send],
          [[keys.names.end], keys.newest],
          [[modifier, "S"], keys.save],
        ]}
      />
      <Checkbox label={keys.single} isChecked={hasSingle} onChange={setSingleKeys} />
      <Muted>{keys.singleHelp}</Muted>
    </Dialog>
  );
}
