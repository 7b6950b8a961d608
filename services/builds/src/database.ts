// Tables of the schema `builds` as kysely sees them; a test compares them with the live schema.

import type { images } from "@svc/proto";
import type { Db } from "@svc/store";
import type { ColumnType, Generated } from "kysely";

type DefaultAt = ColumnType<Date, Date | undefined, Date>;

export type ImageWhitelistTable = {
  image_ref: string;
  source: Generated<images.ImageSource>;
  build_id: string | null;
  added_by: string;
  enabled: Generated<boolean>;
  added_at: DefaultAt;
};

type RecommendedImagesTable = { image_ref: string; seeded_at: DefaultAt };

export type Tables = {
  image_whitelist: ImageWhitelistTable;
  recommended_images: RecommendedImagesTable;
};

export type BuildsDb = Db<Tables>;
