import { FolderUp, Upload } from "lucide-react";
import { DropHint } from "../../ui/drop-hint.tsx";
import { FileChooser } from "../../ui/file-chooser.tsx";
import { isolate } from "../../words/format.ts";
import { useWords } from "../../words/words.ts";
import { filesOfChooser } from "./collect.ts";
import { addFiles, type ChosenFile, type UploadTarget } from "./uploads.ts";
import { useDrop } from "./use-drop.ts";

/** The ways into a folder: two buttons, paste, and a drop anywhere on the page. */
export function UploadButtons({ target }: { target: UploadTarget }) {
  const { uploads, files } = useWords();
  const add = (chosen: ChosenFile[]) => {
    if (chosen.length > 0) addFiles(chosen, target);
  };
  const isHeldOver = useDrop(add);
  return (
    <>
      <FileChooser
        kind="primary"
        icon={<Upload size={16} aria-hidden />}
        onChoose={(chosen) => add(filesOfChooser(chosen))}
      >
        {uploads.files}
      </FileChooser>
      <FileChooser
        isFolder
        icon={<FolderUp size={16} aria-hidden />}
        onChoose={(chosen) => add(filesOfChooser(chosen))}
      >
        {uploads.folder}
      </FileChooser>
      {isHeldOver && (
        <DropHint>{uploads.dropHere(isolate(target.folder === "" ? files.root : target.folder))}</DropHint>
      )}
    </>
  );
}
