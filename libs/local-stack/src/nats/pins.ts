/** Names of one processor type in release archives and in packages. */
export type NatsArch = "amd64" | "arm64";

/** The release archive: digests as the maintainers publish them with their container images. */
export const release = {
  version: "2.14.5",
  sha256: {
    amd64: "5e3b603d47c447bda1f77f9ac16dbf91c90aac4ff3681f8fbbc7201e4ed99355",
    arm64: "673a98d3faa79dde3f9ebf16d6dfac36a5f694e7ad2015e4954dd7939c85cd4c",
  },
} as const;

/** The package in the pool of a Debian mirror: digests as the signed index of the distribution lists them. */
export const pool = {
  version: "2.15.1-1",
  sha256: {
    amd64: "31ef4ceaa84e8248d449e508472e3770c17c3695cb5cb0ee96e03912724ea884",
    arm64: "68923b614b6b5594bbd63ffdce7258c2155ec448fb4cb7efd099bf9273eca128",
  },
} as const;

export function releaseUrl(arch: NatsArch): string {
  const name = `nats-server-v${release.version}-linux-${arch}`;
  return `https://github.com/nats-io/nats-server/releases/download/v${release.version}/${name}.tar.gz`;
}

export function poolPath(arch: NatsArch): string {
  return `pool/main/n/nats-server/nats-server_${pool.version}_${arch}.deb`;
}

export function natsArch(): NatsArch | undefined {
  return ({ x64: "amd64", arm64: "arm64" } as const)[process.arch as string];
}
