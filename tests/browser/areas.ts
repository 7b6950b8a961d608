import { addAnnouncementTests } from "./announcements.ts";
import { addApiTokenTests } from "./api-tokens.ts";
import { addBackupTests } from "./backups.ts";
import { addBuildTests } from "./builds.ts";
import { addChineseTests } from "./chinese.ts";
import { addCliLoginTests } from "./cli-login.ts";
import { addCloneTests } from "./clones.ts";
import { addFileWorkTests } from "./file-work.ts";
import { addFileTests } from "./files.ts";
import type { Area } from "./fixture.ts";
import { addFleetTests } from "./fleet.ts";
import { addGroupTests } from "./groups.ts";
import { addHealthTests } from "./health.ts";
import { addHistoryTests } from "./history.ts";
import { addJourneyTests } from "./journeys.ts";
import { addLargeFolderTests } from "./large-folder.ts";
import { addLargeListTests } from "./large-lists.ts";
import { addLiveTests } from "./live.ts";
import { addNarrowTests } from "./narrow.ts";
import { addNextStepTests } from "./next-steps.ts";
import { addOwnServerTests } from "./own-servers.ts";
import { addPackBuildTests } from "./pack-builds.ts";
import { addPackChangeTests } from "./pack-changes.ts";
import { addPackTests } from "./packs.ts";
import { addPasskeyTests } from "./passkeys.ts";
import { addPlatformTests } from "./platform.ts";
import { addPlayerTests } from "./players.ts";
import { addPluginTests } from "./plugins.ts";
import { addScanDecisionTests } from "./scan-decisions.ts";
import { addScheduleTests } from "./schedules.ts";
import { addSettingsTests } from "./settings.ts";
import { addSinTests } from "./sins.ts";
import { addSshKeyTests } from "./ssh-keys.ts";
import { addStartTests } from "./starts.ts";
import { addTemplateTests } from "./templates.ts";
import { addUserTests } from "./users.ts";
import { addWebhookTests } from "./webhooks.ts";

/** What people do with their account and with one server, in the order in which it is tried. */
export const serverAreas: readonly Area[] = [
  addPasskeyTests,
  addBackupTests,
  addCliLoginTests,
  addApiTokenTests,
  addFileTests,
  addSshKeyTests,
  addFileWorkTests,
  addPluginTests,
  addPlayerTests,
  addHistoryTests,
  addSettingsTests,
  addWebhookTests,
  addStartTests,
  addScheduleTests,
  addLiveTests,
  addNextStepTests,
  addCloneTests,
  addGroupTests,
  addJourneyTests,
  addLargeFolderTests,
  // Last: until then the player owns nothing.
  addOwnServerTests,
];

/** What staff do with the whole platform, and what becomes of packs. */
export const platformAreas: readonly Area[] = [
  addUserTests,
  addPlatformTests,
  addHealthTests,
  addAnnouncementTests,
  addTemplateTests,
  addBuildTests,
  addPackTests,
  addPackBuildTests,
  addScanDecisionTests,
  addPackChangeTests,
  addFleetTests,
  addChineseTests,
  addNarrowTests,
  addSinTests,
  // Last: ten thousand servers keep the stack busy below every page that comes after them.
  addLargeListTests,
];

/** What `npm test` tries of both, on one stack, so that it ends within minutes; `--whole` tries everything. */
export const sampledAreas: readonly Area[] = [
  addPasskeyTests,
  addBackupTests,
  addFileTests,
  addScheduleTests,
  addUserTests,
  addPackTests,
];
