import { useEffect, useRef, useState } from "react";
import { filesOfChooser, filesOfDrop } from "./collect.ts";
import type { ChosenFile } from "./uploads.ts";

/** Takes files that are dropped anywhere on the page or pasted; says whether some are held over it. */
export function useDrop(take: (files: ChosenFile[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const newest = useRef(take);
  newest.current = take;
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
    const over = (event: DragEvent) => {
      if (!hasFiles(event) || !event.dataTransfer) return;
      event.preventDefault();
      // Elsewhere nothing is taken (app/drops.ts).
      event.dataTransfer.dropEffect = "copy";
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      // Without a related element the pointer left the window.
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event) || !event.dataTransfer) return;
      // Otherwise the browser would open the file in the place of the page.
      event.preventDefault();
      setOver(false);
      void filesOfDrop(event.dataTransfer).then((files) => newest.current(files));
    };
    const paste = (event: ClipboardEvent) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      newest.current(filesOfChooser(files));
    };
    window.addEventListener("dragover", over, { signal });
    window.addEventListener("dragleave", leave, { signal });
    window.addEventListener("drop", drop, { signal });
    window.addEventListener("paste", paste, { signal });
    return () => stop.abort();
  }, []);
  return isOver;
}
