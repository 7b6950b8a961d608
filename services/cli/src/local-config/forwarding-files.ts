import { parseForwardingMasters, systemForwardingSecrets } from "@svc/proto";

/** Forwarding secrets that gate and lobby accept, one on each line, derived from the text of the masters' file. */
export function systemForwardingFiles(text: string): Record<"login-gate" | "lobby", string> {
  const masters = parseForwardingMasters(text);
  const lines = (role: "login" | "lobby") => `${systemForwardingSecrets(masters, role).join("\n")}\n`;
  return { "login-gate": lines("login"), lobby: lines("lobby") };
}
