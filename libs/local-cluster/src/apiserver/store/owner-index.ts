import type { KubeObject } from "../../cluster-api.ts";

/** Where an object is stored. */
export type Place = { resource: string; key: string };

/** Finds objects by uid and by the uid of an owner. */
export type OwnerIndex = {
  add(place: Place, object: KubeObject): void;
  remove(place: Place, object: KubeObject): void;
  dependents(uid: string): Place[];
  locate(uid: string): Place | undefined;
};

/** An empty index. */
export function createOwnerIndex(): OwnerIndex {
  const places = new Map<string, Place>();
  const byOwner = new Map<string, Map<string, Place>>();
  return {
    add: (place, object) => {
      if (object.metadata.uid) places.set(object.metadata.uid, place);
      for (const { uid } of object.metadata.ownerReferences ?? []) {
        const owned = byOwner.get(uid) ?? new Map<string, Place>();
        owned.set(`${place.resource} ${place.key}`, place);
        byOwner.set(uid, owned);
      }
    },
    remove: (place, object) => {
      if (object.metadata.uid) places.delete(object.metadata.uid);
      for (const { uid } of object.metadata.ownerReferences ?? []) {
        const owned = byOwner.get(uid);
        owned?.delete(`${place.resource} ${place.key}`);
        if (owned?.size === 0) byOwner.delete(uid);
      }
    },
    dependents: (uid) => [...(byOwner.get(uid)?.values() ?? [])],
    locate: (uid) => places.get(uid),
  };
}
