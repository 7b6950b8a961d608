import type { Job, Secret } from "./resource.ts";

/** The Secret of an existing Job: it has the same name, namespace and labels, and is deleted with it. */
export function secretOwnedBy(
  { apiVersion, kind, metadata }: Job,
  data: Readonly<Record<string, string | Buffer>>,
): Secret {
  const { name, namespace, uid = "", labels } = metadata;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      ...(namespace && { namespace }),
      ...(labels && { labels }),
      ownerReferences: [{ apiVersion, kind, name, uid }],
    },
    type: "Opaque",
    data: Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
    ),
  };
}
