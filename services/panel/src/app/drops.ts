// A file that is dropped where nothing takes it would be opened in the place of the page, with all that was typed there.

/** Lets no dropped file lead away; pages that take files set the effect again. */
export function keepPageOnDrop(): void {
  const keep = (event: DragEvent) => {
    const { dataTransfer } = event;
    if (!dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    dataTransfer.dropEffect = "none";
  };
  window.addEventListener("dragover", keep);
  window.addEventListener("drop", keep);
}
