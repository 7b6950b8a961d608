import { FilePlus, FolderPlus } from "lucide-react";
import { useState } from "react";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { faultWords } from "../words/faults.ts";
import { useWords } from "../words/words.ts";
import { NameDialog } from "./name-dialog.tsx";
import { isFileName, joinPath } from "./path.ts";
import { sha256Hex } from "./text-content.ts";

type NewEntryProps = {
  name: string;
  folder: string;
  kind: "folder" | "file";
  /** Why the world is not free. */
  held: string | undefined;
};

/** Makes an empty folder or file. */
export function NewEntry({ name, folder, kind, held }: NewEntryProps) {
  const words = useWords();
  const { files } = words;
  const [isOpen, setOpen] = useState(false);
  const makeFolder = useAction("files.makeFolder", ["files.list"]);
  const write = useAction("files.write", ["files.list"]);
  const action = kind === "folder" ? makeFolder : write;
  const close = () => {
    setOpen(false);
    action.reset();
  };
  const make = async (typed: string) => {
    const path = joinPath(folder, typed);
    if (kind === "folder") return makeFolder.mutate({ name, path }, { onSuccess: close });
    const empty = await sha256Hex(new Uint8Array());
    write.mutate({ name, path, content: "", content_sha256: empty, create_only: true }, { onSuccess: close });
  };
  const Icon = kind === "folder" ? FolderPlus : FilePlus;
  const title = kind === "folder" ? files.newFolder : files.newFile;
  return (
    <>
      <Button icon={<Icon size={16} aria-hidden />} whyNot={held} onPress={() => setOpen(true)}>
        {title}
      </Button>
      {isOpen && (
        <NameDialog
          title={title}
          label={kind === "folder" ? files.newFolderName : files.newFileName}
          action={kind === "folder" ? files.newFolderAction : files.newFileAction}
          isAllowed={isFileName}
          isPending={action.isPending}
          error={action.error ? faultWords(words, action.error) : undefined}
          onClose={close}
          onDone={(typed) => void make(typed)}
        />
      )}
    </>
  );
}
