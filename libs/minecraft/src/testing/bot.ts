import { createRequire } from "node:module";
import type { Bot } from "mineflayer";
import { offlineUuid } from "../login/profile.ts";

// mineflayer costs half a second to load; only who starts a bot pays it.
const require = createRequire(import.meta.url);

/** A real client (mineflayer) for tests. With `sessionServer` it signs in there under its own name. */
export function startBot(options: {
  readonly port: number;
  readonly name: string;
  /** minecraft-data's name of the version. */
  readonly version: string;
  readonly sessionServer?: string;
}): Bot {
  const { createBot } = require("mineflayer") as { createBot: (options: object) => Bot };
  const { port, name: username, version, sessionServer } = options;
  const common = { host: "127.0.0.1", port, username, version, hideErrors: true, respawn: false };
  if (sessionServer === undefined) return createBot({ ...common, auth: "offline" });
  return createBot({
    ...common,
    sessionServer,
    skipValidation: true,
    disableChatSigning: true,
    auth: signIn,
  });
}

type NmpClient = { session: unknown; username: string; emit: (event: string, session: unknown) => void };
type NmpOptions = {
  username: string;
  accessToken?: string;
  haveCredentials?: boolean;
  connect: (client: NmpClient) => void;
};

function signIn(client: NmpClient, options: NmpOptions): void {
  const id = offlineUuid(options.username).replaceAll("-", "");
  client.session = { accessToken: options.username, selectedProfile: { id, name: options.username } };
  client.username = options.username;
  options.accessToken = options.username;
  options.haveCredentials = true;
  client.emit("session", client.session);
  options.connect(client);
}
