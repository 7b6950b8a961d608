// The packages of an image, out of its software bill of materials (CycloneDX). It comes from outside, so anything may be
// missing in it. Pure.

type SbomPackage = { name: string; version: string; kind: string; licenses: string };

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};
const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/** Packages by name; undefined when the document is none. */
export function packagesOf(document: unknown): SbomPackage[] | undefined {
  const { bomFormat, components } = fieldsOf(document);
  if (bomFormat !== "CycloneDX") return undefined;
  if (!Array.isArray(components)) return [];
  return components
    .map(fieldsOf)
    .filter(({ type }) => type === "library" || type === "application" || type === "framework")
    .map(packageOf)
    .filter(({ name }) => name !== "")
    .sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version));
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function packageOf(component: Fields): SbomPackage {
  const { name, group, version, purl, licenses } = component;
  const [, kind = ""] = /^pkg:([a-z0-9.+-]+)\//i.exec(textOf(purl)) ?? [];
  return {
    name: [textOf(group), textOf(name)].filter(Boolean).join("/"),
    version: textOf(version),
    kind,
    licenses: Array.isArray(licenses) ? licenses.map(licenseOf).filter(Boolean).join(", ") : "",
  };
}

function licenseOf(entry: unknown): string {
  const { license, expression } = fieldsOf(entry);
  const { id, name } = fieldsOf(license);
  return textOf(expression) || textOf(id) || textOf(name);
}

/** Packages whose name, version or license has the searched text in it. */
export function searchPackages(packages: readonly SbomPackage[], search: string): readonly SbomPackage[] {
  const wanted = search.trim().toLowerCase();
  if (wanted === "") return packages;
  return packages.filter(({ name, version, kind, licenses }) =>
    `${name} ${version} ${kind} ${licenses}`.toLowerCase().includes(wanted),
  );
}

type PackageChange = {
  name: string;
  kind: string;
  change: "added" | "removed" | "changed";
  earlier: string;
  later: string;
};

/** Packages that came, went or have other versions. Several versions of one package stand together. */
export function comparePackages(
  earlier: readonly SbomPackage[],
  later: readonly SbomPackage[],
): PackageChange[] {
  const [before, after] = [versionsOf(earlier), versionsOf(later)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((key) => {
      const [kind = "", name = ""] = JSON.parse(key) as string[];
      const [was, is] = [before.get(key), after.get(key)];
      const change = was === undefined ? "added" : is === undefined ? "removed" : "changed";
      return { name, kind, change, earlier: joined(was), later: joined(is) } as const;
    })
    .filter(({ change, earlier, later }) => change !== "changed" || earlier !== later)
    .sort((a, b) => compare(a.name, b.name));
}

const joined = (versions: ReadonlySet<string> | undefined) => [...(versions ?? [])].sort().join(", ");

function versionsOf(packages: readonly SbomPackage[]): Map<string, Set<string>> {
  const versions = new Map<string, Set<string>>();
  for (const { name, kind, version } of packages) {
    const key = JSON.stringify([kind, name]);
    const known = versions.get(key);
    if (known) known.add(version);
    else versions.set(key, new Set([version]));
  }
  return versions;
}
