/** The secret that proxy and servers share; empty where forwarding is off. */
export function forwardingSecret(): string {
  // biome-ignore lint/style/noProcessEnv: an init container is configured by its environment alone
  return process.env["SVC_FORWARDING_SECRET"] ?? "";
}
