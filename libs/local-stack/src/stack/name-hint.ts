import { lookup } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { minecraftPort } from "./stack-file.ts";

const lookupMs = 1_000;

/**
 * What to tell a player whose machine does not know names below the root domain: browsers lead `*.localhost` to the
 * machine itself, the game asks the system. Undefined when all is well.
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
    `this machine does not know ${name}: put "127.0.0.1 ${name}" into /etc/hosts for each server, ` +
    `or join ${address} and choose a server with /menu`
  );
}
