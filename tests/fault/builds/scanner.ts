// Stands in for Trivy, which takes seconds: a report of the image it is given, in Trivy's format. A layer that holds the text
// `blocked` has a critical finding. `node scanner.ts image --input LAYOUT … --output FILE …`, or `convert … --output FILE REPORT`.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const [command, ...args] = process.argv.slice(2);
const optionOf = (name: string) => args[args.indexOf(name) + 1] ?? "";

function report(layout: string): object {
  const read = (name: string) => readFileSync(join(layout, name));
  const blob = (digest: string) => read(`blobs/${digest.replace(":", "/")}`);
  const { manifests } = JSON.parse(read("index.json").toString()) as { manifests: { digest: string }[] };
  const { config, layers } = JSON.parse(blob(manifests[0]?.digest ?? "").toString()) as {
    config: { digest: string };
    layers: { digest: string }[];
  };
  const isBlocked = layers.some(({ digest }) => gunzipSync(blob(digest)).includes("blocked"));
  const finding = { VulnerabilityID: "CVE-2026-1", PkgName: "x", FixedVersion: "2", Severity: "CRITICAL" };
  return {
    SchemaVersion: 2,
    ArtifactType: "container_image",
    Metadata: { ImageID: config.digest },
    Results: [{ Target: "x", Packages: [{}], Vulnerabilities: isBlocked ? [finding] : [] }],
  };
}

const made = command === "image" ? report(optionOf("--input")) : { bomFormat: "CycloneDX" };
writeFileSync(optionOf("--output"), JSON.stringify(made));
