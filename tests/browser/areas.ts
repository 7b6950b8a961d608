import { addBackupTests } from "./backups.ts";
import { addBuildTests } from "./builds.ts";
import { addChineseTests } from "./chinese.ts";
import { addCliLoginTests } from "./cli-login.ts";
import { addFileTests } from "./files.ts";
import type { Area } from "./fixture.ts";
import { addFleetTests } from "./fleet.ts";
import { addHistoryTests } from "./history.ts";
import { addLiveTests } from "./live.ts";
import { addPackBuildTests } from "./pack-builds.ts";
import { addPackTests } from "./packs.ts";
import { addPasskeyTests } from "./passkeys.ts";
import { addPlatformTests } from "./platform.ts";
import { addPlayerTests } from "./players.ts";
import { addScheduleTests } from "./schedules.ts";
import { addSettingsTests } from "./settings.ts";
import { addStartTests } from "./starts.ts";
import { addUserTests } from "./users.ts";

/** The areas of the panel beside sign-in and the overview, in the order in which they are tried. */
export const areas: readonly Area[] = [
  addPasskeyTests,
  addBackupTests,
  addCliLoginTests,
  addFileTests,
  addPlayerTests,
  addHistoryTests,
  addSettingsTests,
  addUserTests,
  addStartTests,
  addScheduleTests,
  addLiveTests,
  addPlatformTests,
  addBuildTests,
  addPackTests,
  addPackBuildTests,
  addFleetTests,
  addChineseTests,
];
