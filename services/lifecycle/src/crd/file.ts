import { fileURLToPath } from "node:url";
import { minecraftServerCrd } from "./definition.ts";

/** Where the generated definition is kept for people and for Helm. */
export const crdFile = fileURLToPath(
  new URL("../../../../deploy/crd/minecraftservers.svc.internal.json", import.meta.url),
);

export function crdText(): string {
  return `${JSON.stringify(minecraftServerCrd(), undefined, 2)}\n`;
}
