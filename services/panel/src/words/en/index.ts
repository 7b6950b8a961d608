import { account } from "./account.ts";
import { activity } from "./activity.ts";
import { audit } from "./audit.ts";
import { backups } from "./backups.ts";
import { cliLogin } from "./cli-login.ts";
import { crashes } from "./crashes.ts";
import { downloads } from "./downloads.ts";
import { files } from "./files.ts";
import { first } from "./first.ts";
import { fleet } from "./fleet.ts";
import { history } from "./history.ts";
import { keys } from "./keys.ts";
import { leaving } from "./leaving.ts";
import { luckPerms } from "./luck-perms.ts";
import { nodes } from "./nodes.ts";
import { images, platformSettings } from "./platform.ts";
import { players } from "./players.ts";
import { reasons } from "./reasons.ts";
import { schedules } from "./schedules.ts";
import { create, dashboard, server, serverConsole, servers } from "./server.ts";
import { settings } from "./settings.ts";
import { sharing } from "./sharing.ts";
import { start } from "./start.ts";
import { tokens } from "./tokens.ts";
import { uploads } from "./uploads.ts";
import { users } from "./users.ts";

/** English, the type of all catalogues. */
export const en = {
  ...first,
  account,
  activity,
  audit,
  backups,
  cliLogin,
  crashes,
  create,
  dashboard,
  downloads,
  files,
  history,
  fleet,
  nodes,
  images,
  leaving,
  luckPerms,
  platformSettings,
  players,
  keys,
  reasons,
  schedules,
  server,
  serverConsole,
  servers,
  settings,
  sharing,
  start,
  tokens,
  uploads,
  users,
};

/** As of `FirstWords`. */
export type Words = typeof en;
