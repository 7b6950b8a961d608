import assert from "node:assert/strict";
import { test } from "node:test";
import { comparePackages, packagesOf, searchPackages } from "./sbom.ts";

const sbom = {
  bomFormat: "CycloneDX",
  components: [
    { type: "library", name: "zlib", version: "1.3", purl: "pkg:deb/debian/zlib@1.3" },
    {
      type: "library",
      group: "org.slf4j",
      name: "slf4j-api",
      version: "2.0",
      purl: "pkg:maven/org.slf4j/slf4j-api@2.0",
      licenses: [{ license: { id: "MIT" } }, { expression: "Apache-2.0 OR BSD" }, 7],
    },
    { type: "operating-system", name: "debian", version: "13" },
    { type: "library", version: "no name" },
    null,
  ],
};

test("packages are listed by name, with kind and licenses", () => {
  assert.deepEqual(packagesOf(sbom), [
    { name: "org.slf4j/slf4j-api", version: "2.0", kind: "maven", licenses: "MIT, Apache-2.0 OR BSD" },
    { name: "zlib", version: "1.3", kind: "deb", licenses: "" },
  ]);
});

test("what is not a bill of materials has no packages", () => {
  for (const document of [null, 7, [], {}, { bomFormat: "SPDX", components: [] }])
    assert.equal(packagesOf(document), undefined);
  assert.deepEqual(packagesOf({ bomFormat: "CycloneDX" }), []);
});

test("packages are searched by name, version and license", () => {
  const packages = packagesOf(sbom) ?? [];
  for (const search of ["SLF4J", "apache", " mit "])
    assert.deepEqual(
      searchPackages(packages, search).map(({ name }) => name),
      ["org.slf4j/slf4j-api"],
    );
  assert.equal(searchPackages(packages, "").length, 2);
});

test("two bills differ in packages that came, went or changed", () => {
  const one = (name: string, version: string, kind = "deb") => ({ name, version, kind, licenses: "" });
  const earlier = [
    one("bash", "5.1"),
    one("curl", "8"),
    one("ed", "1.21"),
    one("log4j", "2.16", "maven"),
    one("log4j", "2.17", "maven"),
  ];
  const later = [one("bash", "5.2"), one("jq", ""), one("log4j", "2.17", "maven"), one("curl", "8")];
  assert.deepEqual(comparePackages(earlier, later), [
    { name: "bash", kind: "deb", change: "changed", earlier: "5.1", later: "5.2" },
    { name: "ed", kind: "deb", change: "removed", earlier: "1.21", later: "" },
    { name: "jq", kind: "deb", change: "added", earlier: "", later: "" },
    { name: "log4j", kind: "maven", change: "changed", earlier: "2.16, 2.17", later: "2.17" },
  ]);
});
