// All commands of `svc`; each group has a folder.

import { Command } from "commander";
import { addAcceptanceCommands } from "./acceptance/program.ts";
import { addAccessCommands } from "./access/program.ts";
import { addAccountCommands } from "./account/program.ts";
import { addAnnouncementCommands } from "./announcement/program.ts";
import { addApplyCommand } from "./apply/program.ts";
import { addBackupCommands } from "./backup/program.ts";
import { addPlayerCommands } from "./bar-player/program.ts";
import { addCompletionCommand } from "./completion/program.ts";
import { buildVersion } from "./config.ts";
import { addConvergeCommand } from "./converge/program.ts";
import { addDatabaseCommands } from "./database/program.ts";
import { addDomainCommands } from "./domain/program.ts";
import { addEventCommand } from "./events/program.ts";
import { addFileCommands } from "./file/program.ts";
import { addHostCommands } from "./host/program.ts";
import { addKnownPlayerCommands } from "./known-player/program.ts";
import { addManifestCommands } from "./manifests/program.ts";
import { addMoveCommands } from "./move/program.ts";
import { addNodeCommands } from "./node/program.ts";
import { addOffsiteCommands } from "./offsite/program.ts";
import { addPlayersCommand } from "./online-players/program.ts";
import { addOpenCommand } from "./open/program.ts";
import { endWithReader, exitCodes } from "./output.ts";
import { addPluginCommands } from "./plugin/program.ts";
import { addCommonOptions, command, fail, runs } from "./program.ts";
import { addReaperCommand } from "./reaper/program.ts";
import { addRegistryCommands } from "./registry/program.ts";
import { addScheduleCommands } from "./schedule/program.ts";
import { addServerCommands } from "./server/program.ts";
import { addGroupCommands } from "./server-group/program.ts";
import { addVerifierCommand } from "./session-verifier/program.ts";
import { addKeyCommands } from "./ssh-key/program.ts";
import { addStackCommands } from "./stack/program.ts";
import { addSupportCommand } from "./support/program.ts";
import { addTemplateCommands } from "./template/program.ts";
import { addTokenCommands } from "./token/program.ts";
import { addUpdateCommand } from "./update/program.ts";
import { addUserCommands } from "./user/program.ts";
import { addWatchdogCommands } from "./watchdog/program.ts";
import { addWebhookCommands } from "./webhook/program.ts";

/** Every command of `svc`; nothing runs yet. */
export function createProgram(): Command {
  const program = addCommonOptions(new Command("svc"))
    .description("Control plane for Minecraft servers that sleep until a player joins.")
    .version(buildVersion, "-V, --version")
    .showHelpAfterError("(svc --help lists the commands)")
    .addHelpText("after", `\n${exitCodes}`);
  addStackCommands(program);
  addAccountCommands(program);
  addTokenCommands(program);
  addKeyCommands(program);
  addAccessCommands(program);
  addServerCommands(program);
  addGroupCommands(program);
  addApplyCommand(program);
  addPlayersCommand(program);
  addKnownPlayerCommands(program);
  addFileCommands(program);
  addPluginCommands(program);
  addScheduleCommands(program);
  addWebhookCommands(program);
  addAnnouncementCommands(program);
  addTemplateCommands(program);
  addBackupCommands(program);
  addMoveCommands(program);
  addNodeCommands(program);
  addReaperCommand(program);
  addRegistryCommands(program);
  addAcceptanceCommands(program);
  addUserCommands(program);
  addPlayerCommands(program);
  addHostCommands(program);
  addEventCommand(program);
  addDatabaseCommands(program);
  addOffsiteCommands(program);
  addUpdateCommand(program);
  addConvergeCommand(program);
  addDomainCommands(program);
  addSupportCommand(program);
  addWatchdogCommands(program);
  addManifestCommands(program);
  addVerifierCommand(program);
  addOpenCommand(program);
  addCompletionCommand(program);
  command(program, "version", { does: "version of this build", example: "version --json" }).action(
    runs(async () => ({
      json: { version: buildVersion, node: process.version },
      text: `svc ${buildVersion} on Node ${process.version}`,
    })),
  );
  return program;
}

if (import.meta.main) {
  endWithReader();
  await createProgram().parseAsync().catch(fail);
}
