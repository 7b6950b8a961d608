/** Words of where an image comes from. */
export const provenance = {
  title: "Provenance",
  help: "Where this image comes from, as it is kept with the image in the registry.",
  none: "This build has no provenance: it was made by an earlier version. Build it again to get one.",
  context: "Built from the context",
  bases: "Built on",
  builder: "Built with",
  scanner: "Scanned with",
  noScanner: "A scanner that does not say its version",
  program: (name: string, version: string) => `${name} ${version}`,
  manifest: "In the registry as",
  download: "Download the statement",
};
