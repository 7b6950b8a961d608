import { readFileSync } from "node:fs";

/** The secret that the proxy signs with for this server; empty where forwarding is off. Throws without its file. */
export function forwardingSecret(): string {
  // biome-ignore lint/style/noProcessEnv: an init container is configured by its environment alone
  const file = process.env["SVC_FORWARDING_SECRET_FILE"];
  if (!file) return "";
  const secret = readFileSync(file, "utf8").split("\n")[0]?.trim();
  if (!secret) throw new Error(`${file} holds no forwarding secret`);
  return secret;
}
