// The reference implementation of an OCI registry: its official release, and Debian's package of it.

import type { FetchedProgram } from "../fetch/program.ts";

export const dockerRegistry: FetchedProgram = {
  name: "docker-registry",
  variable: "SVC_DOCKER_REGISTRY",
  versionArguments: ["--version"],
  isSupported: (version) => /^2\.(?:[89]|\d\d)\./.test(version),
  supported: "docker-registry 2.8 or a later 2.x",
  otherwise: "install one, or name it with SVC_DOCKER_REGISTRY",
  size: "5 MB",
  // Digests as the maintainers publish them with their container image.
  release: {
    version: "2.8.3",
    sha256: {
      amd64: "b1f750ecbe09f38e2143e22c61a25e3da2afe1510d9522859230b480e642ceff",
      arm64: "7d2252eeeac97dd60fb9b36bebd15b95d7f947c4c82b8e0824cb55233ece9cd0",
    },
    url: (arch) =>
      `https://github.com/distribution/distribution/releases/download/v2.8.3/registry_2.8.3_linux_${arch}.tar.gz`,
    file: () => "registry",
  },
  // Digests as the signed index of the distribution lists them.
  pool: {
    version: "2.8.2+ds1-1",
    sha256: {
      amd64: "a9bd06c0e006854608f8469b4371743f40604ad90975532bb3b7ceeb72fe2913",
      arm64: "652d4e3fe828ccf9b80962dce13f813fb969f1d5e1dae7d7ceff79ec9a5ed651",
    },
    path: (arch) => `pool/main/d/docker-registry/docker-registry_2.8.2+ds1-1_${arch}.deb`,
  },
  package: { name: "docker-registry", file: "usr/bin/docker-registry" },
};
