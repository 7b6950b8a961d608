export const downloads = {
  preparing: (file: string) => `Preparing ${file}. The download starts by itself.`,
  failed: (file: string) => `${file} could not be prepared. Try again.`,
};
