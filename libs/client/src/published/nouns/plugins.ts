import { plugins as contracts } from "@svc/proto";

/** Plugins and mods from public catalogues. */
export const plugins = {
  list: contracts.list,
  search: contracts.search,
  versions: contracts.versions,
  updates: contracts.updates,
  plan: contracts.plan,
  install: contracts.install,
  remove: contracts.remove,
};
