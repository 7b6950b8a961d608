/** Words of what a pack without a Dockerfile became. */
export const packPlan = {
  title: "What is built of it",
  pack: "Pack",
  format: "Format",
  formats: { modrinth: "Modrinth", curseforge: "CurseForge" },
  loader: "Loader",
  minecraft: "Minecraft",
  base: "Base image",
  source: "SHA-256 of the uploaded file",
  dockerfile: "Dockerfile, made from the operator's template",
  noDownloads: "The build downloads nothing.",
  downloads: (n: number, size: string) =>
    `The build downloads ${n === 1 ? "1 file" : `${n} files`}, ${size}. Each must have the size and hash below.`,
  hosts: "Hosts",
  path: "File",
  host: "From",
  size: "Size",
  hash: "Hash",
  shown: (n: number, of: number) => `${n} of ${of} files`,
  previous: "Previous",
  next: "Next",
  leftOut: (n: number) => `${n === 1 ? "1 file is" : `${n} files are`} left out`,
  leftOutReasons: {
    client: "only for players' own game",
    optional: "optional",
    replaced: "replaced by a file of the pack",
  },
};
