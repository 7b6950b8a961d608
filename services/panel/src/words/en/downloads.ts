export const downloads = {
  preparing: (file: string) => `Preparing ${file}. The download starts by itself.`,
  failed: (file: string) => `${file} could not be prepared. Try again.`,
  waits: (file: string) => `The browser has not begun to save ${file}. It waits for you:`,
  save: "Save it now",
  late: (file: string) => `Nobody saved ${file} in time.`,
  again: "Prepare it again",
};
