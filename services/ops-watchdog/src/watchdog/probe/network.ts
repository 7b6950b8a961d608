// What is reached over the network: the mail relay, the proxy's game port, certificates.

import { connect, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { createRelay, relaySettings } from "@svc/smtp";
import { type Finding, finding } from "../finding.ts";
import { NotConfiguredError, type Probe } from "./probe.ts";
import { reachable } from "./reachable.ts";

const withinMs = 10_000;
const dayMs = 86_400_000;

/** As far as MAIL FROM: what a mail would need, without sending one. */
export const mailRelay = reachable("mail-relay", {
  reach: async ({ settings, env }) => {
    const relay = relaySettings(settings.smtp, withinMs, env);
    if (!relay) throw new NotConfiguredError("no mail relay is configured");
    (await createRelay(relay).open("postmaster@localhost.localdomain")).close();
  },
  wrong: (why) =>
    finding(
      {
        ...{ key: "mail-relay", severity: "warning", forMinutes: 10 },
        hint: {
          en: "Check [smtp] and the relay: nobody gets codes or alerts by mail.",
          zh: "请检查 [smtp] 和中继：验证码和警报邮件均无法送达。",
        },
      },
      { en: "The mail relay does not take mails: {why}", zh: "邮件中继不接受邮件：{why}" },
      { why },
    ),
});

export const gamePort: Probe = {
  prefixes: ["game-port"],
  look: async ({ settings }) => {
    const { game_address: address } = settings.ops_watchdog;
    if (address === "") throw new NotConfiguredError("ops_watchdog.game_address is not set");
    if (await accepts(address)) return { findings: [] };
    return {
      findings: [
        finding(
          {
            ...{ key: "game-port", severity: "critical", forMinutes: 3 },
            hint: {
              en: "Start the proxy: nobody can join.",
              zh: "请启动代理：目前无人能加入。",
            },
          },
          { en: "The game port {address} refuses connections.", zh: "游戏端口 {address} 拒绝连接。" },
          { address },
        ),
      ],
    };
  },
};

function parts(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(":");
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(address.slice(at + 1)) };
}

function accepts(address: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ ...parts(address), timeout: withinMs });
    const end = (isOpen: boolean) => {
      socket.destroy();
      done(isOpen);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}

export const certificates: Probe = {
  prefixes: ["certificate/"],
  look: async ({ settings, now }) => {
    const { tls_addresses: addresses } = settings.ops_watchdog;
    if (addresses.length === 0) throw new NotConfiguredError("ops_watchdog.tls_addresses names none");
    const findings: Finding[] = [];
    const unknown: { prefix: string; reason: string }[] = [];
    await Promise.all(
      addresses.map(async (address) => {
        try {
          findings.push(...judgeCertificate(address, await readExpiry(address), now));
        } catch (error) {
          unknown.push({ prefix: `certificate/${address}`, reason: (error as Error).message });
        }
      }),
    );
    return { findings, unknown };
  },
};

function readExpiry(address: string): Promise<number> {
  const { host, port } = parts(address);
  return new Promise((done, fail) => {
    // What is expired or from an own authority is read too: only its date matters here.
    const socket = connectTls(
      { host, port, ...(isIP(host) === 0 && { servername: host }), rejectUnauthorized: false },
      () => {
        const { valid_to } = socket.getPeerCertificate();
        socket.destroy();
        done(Date.parse(valid_to));
      },
    );
    socket.setTimeout(withinMs, () => socket.destroy(new Error(`${address} does not answer`)));
    socket.once("error", fail);
  });
}

export function judgeCertificate(address: string, expiresAt: number, now: number): Finding[] {
  const days = Math.floor((expiresAt - now) / dayMs);
  if (!(days < 30)) return [];
  return [
    finding(
      {
        ...{ key: `certificate/${address}`, severity: days < 7 ? "critical" : "warning" },
        hint: {
          en: "Renew it; what renews it by itself seems to have stopped.",
          zh: "请续期；自动续期似乎已停止工作。",
        },
      },
      days < 0
        ? { en: "The certificate of {address} has expired.", zh: "{address} 的证书已过期。" }
        : {
            en: "The certificate of {address} expires in {days} days.",
            zh: "{address} 的证书将在 {days} 天后过期。",
          },
      { address, days },
    ),
  ];
}
