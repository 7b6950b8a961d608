import { isSupportedNats, supportedNats } from "@svc/proto";
import type { FetchedProgram } from "../fetch/program.ts";

const releaseVersion = "2.14.5";

/** nats-server: its official release, and Debian's package of it. */
export const natsServer: FetchedProgram = {
  name: "nats-server",
  variable: "SVC_NATS_SERVER",
  versionArguments: ["-v"],
  isSupported: isSupportedNats,
  supported: supportedNats,
  otherwise: "install one, name it with SVC_NATS_SERVER, or set SVC_NATS_URL to a server of yours",
  size: "5 MB",
  // Digests as the maintainers publish them with their container images.
  release: {
    version: releaseVersion,
    sha256: {
      amd64: "5e3b603d47c447bda1f77f9ac16dbf91c90aac4ff3681f8fbbc7201e4ed99355",
      arm64: "673a98d3faa79dde3f9ebf16d6dfac36a5f694e7ad2015e4954dd7939c85cd4c",
    },
    url: (arch) =>
      `https://github.com/nats-io/nats-server/releases/download/v${releaseVersion}/${folder(arch)}.tar.gz`,
    file: (arch) => `${folder(arch)}/nats-server`,
  },
  // Digests as the signed index of the distribution lists them.
  pool: {
    version: "2.15.1-1",
    sha256: {
      amd64: "31ef4ceaa84e8248d449e508472e3770c17c3695cb5cb0ee96e03912724ea884",
      arm64: "68923b614b6b5594bbd63ffdce7258c2155ec448fb4cb7efd099bf9273eca128",
    },
    path: (arch) => `pool/main/n/nats-server/nats-server_2.15.1-1_${arch}.deb`,
  },
  package: { name: "nats-server", file: "usr/sbin/nats-server" },
};

function folder(arch: string): string {
  return `nats-server-v${releaseVersion}-linux-${arch}`;
}
