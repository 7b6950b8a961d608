import { lookup } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { minecraftPort } from "./stack-file.ts";

const lookupMs = 1_000;

/**
 * The hint for a player whose machine does not resolve names below the root domain: browsers resolve `*.localhost`
 * themselves, the game asks the system. Undefined when they resolve.
 */
export async function nameHint(
  about: { rootDomain: string; game: { host: string; port: number } },
  resolve: (name: string) => Promise<unknown> = lookup,
): Promise<string | undefined> {
  const { rootDomain, game } = about;
  const name = `survival.${rootDomain}`;
  const late = sleep(lookupMs, false, { ref: false });
  const found = resolve(name).then(
    () => true,
    () => false,
  );
  if (await Promise.race([found, late])) return undefined;
  const address = game.port === minecraftPort ? game.host : `${game.host}:${game.port}`;
  return (
    `this machine does not resolve ${name}: put "127.0.0.1 ${name}" into /etc/hosts for each server, ` +
    `or join ${address} and choose a server with /menu`
  );
}
