// Volumes for archives and uploads. Two namespaces use the archive folder, so two volumes have the same path: one for
// storage, which receives, sweeps and deletes archives, and one for the Jobs of the game namespace. Its size is that of the file
// system; archive.max_local_bytes limits owners, and a tenth of the file system always stays free.

import { choose, type Expression, equals, type Ref, type Template, when } from "../template/expression.ts";
import { head, type ObjectFile, type V } from "./common.ts";

type Shared = { volume: string; namespace: Ref<string>; claim: string; path: Ref<string>; size: Ref<string> };

export function volumeFile(v: V): ObjectFile {
  const { control, game } = v.namespaces;
  const archive = { claim: "svc-archive", path: v.volumes.archivePath, size: v.volumes.archiveSize };
  const shared: Shared[] = [
    { volume: "svc-archive-service", namespace: control, ...archive },
    { volume: "svc-archive-jobs", namespace: game, ...archive },
    {
      volume: "svc-uploads",
      namespace: control,
      claim: "svc-uploads",
      path: v.volumes.uploadsPath,
      size: v.volumes.uploadsSize,
    },
  ];
  return {
    file: "volumes.yaml",
    about:
      "Archives and uploads. Local folders are made first: install -d -m 2770 -o 1000 -g 1000 /var/lib/svc/archive /var/lib/svc/uploads",
    objects: [...shared.map((one) => volumeOf(v, one)), ...shared.map((one) => claimOf(v, one))],
  };
}

function accessMode(v: V): Expression {
  return choose(equals(v.volumes.kind, "nfs"), "ReadWriteMany", "ReadWriteOnce");
}

function volumeOf(v: V, { volume, namespace, claim, path, size }: Shared): Template {
  const isShared = equals(v.volumes.kind, "nfs");
  const isLocal = equals(v.volumes.kind, "local");
  return {
    ...head({ apiVersion: "v1", kind: "PersistentVolume", name: volume }),
    spec: {
      capacity: { storage: size },
      accessModes: [accessMode(v)],
      storageClassName: "",
      // Deleting the claim must never delete archives.
      persistentVolumeReclaimPolicy: "Retain",
      nfs: when(isShared, { server: v.volumes.nfsServer, path }),
      local: when(isLocal, { path }),
      claimRef: { namespace, name: claim },
      nodeAffinity: when(isLocal, {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: v.volumes.nodeLabel, operator: "In", values: ["controller"] }] },
          ],
        },
      }),
    },
  };
}

function claimOf(v: V, { volume, namespace, claim, size }: Shared): Template {
  return {
    ...head({ apiVersion: "v1", kind: "PersistentVolumeClaim", name: claim, namespace }),
    spec: {
      accessModes: [accessMode(v)],
      storageClassName: "",
      volumeName: volume,
      resources: { requests: { storage: size } },
    },
  };
}
