import { ListObjectsV2Command, ListObjectVersionsCommand } from "@aws-sdk/client-s3";
import type { Connection } from "./connection.ts";
import { ObjectStoreError } from "./error.ts";
import type { ListedObject, ListedVersion } from "./types.ts";

type Options = { signal?: AbortSignal };

/** See `ObjectStore.list`. */
export async function* list(
  connection: Connection,
  start: string,
  { signal }: Options = {},
): AsyncGenerator<ListedObject> {
  const { client, bucket, ownKey, call } = connection;
  const Prefix = fullStart(connection, start);
  let token: string | undefined;
  let last = "";
  do {
    const page = await call("list", { signal }, (attempt) =>
      client.send(
        new ListObjectsV2Command({
          Bucket: bucket,
          Prefix,
          ...(token !== undefined && { ContinuationToken: token }),
        }),
        { abortSignal: attempt },
      ),
    );
    for (const { Key = "", Size, ETag = "", LastModified } of page.Contents ?? []) {
      // A store that repeats itself would keep us for ever; the order of keys is part of the protocol.
      if (Size === undefined || Buffer.compare(Buffer.from(Key), Buffer.from(last)) <= 0)
        throw new ObjectStoreError("malformed", `the store listed ${Key} after ${last}`);
      last = Key;
      yield { key: ownKey(Key), sizeBytes: Size, etag: ETag, modifiedAt: LastModified };
    }
    token = nextOf(page.IsTruncated, page.NextContinuationToken, token);
  } while (token !== undefined);
}

/** See `ObjectStore.listVersions`. */
export async function* listVersions(
  connection: Connection,
  start: string,
  { signal }: Options = {},
): AsyncGenerator<ListedVersion> {
  const { client, bucket, call } = connection;
  const Prefix = fullStart(connection, start);
  let marker: { KeyMarker?: string; VersionIdMarker?: string } | undefined = {};
  while (marker) {
    const from: { KeyMarker?: string; VersionIdMarker?: string } = marker;
    const page = await call("list versions", { signal }, (attempt) =>
      client.send(new ListObjectVersionsCommand({ Bucket: bucket, Prefix, ...from }), {
        abortSignal: attempt,
      }),
    );
    for (const one of page.Versions ?? []) yield versionOf(connection, one, false);
    for (const one of page.DeleteMarkers ?? []) yield versionOf(connection, one, true);
    const { IsTruncated, NextKeyMarker, NextVersionIdMarker } = page;
    const position = (key = "", version = "") => `${key}\n${version}`;
    const next = position(NextKeyMarker, NextVersionIdMarker);
    marker =
      nextOf(IsTruncated, next, position(from.KeyMarker, from.VersionIdMarker)) === undefined
        ? undefined
        : {
            ...(NextKeyMarker !== undefined && { KeyMarker: NextKeyMarker }),
            ...(NextVersionIdMarker !== undefined && { VersionIdMarker: NextVersionIdMarker }),
          };
  }
}

type Version = {
  Key?: string | undefined;
  VersionId?: string | undefined;
  IsLatest?: boolean | undefined;
  Size?: number | undefined;
  LastModified?: Date | undefined;
};

function versionOf({ ownKey }: Connection, one: Version, isDeleteMarker: boolean): ListedVersion {
  const { Key = "", VersionId = "null", IsLatest = false, Size = 0, LastModified } = one;
  return {
    key: ownKey(Key),
    versionId: VersionId,
    isLatest: IsLatest,
    isDeleteMarker,
    sizeBytes: Size,
    modifiedAt: LastModified,
  };
}

/** What begins like this; an empty start is everything under the prefix. */
function fullStart({ fullKey }: Connection, start: string): string {
  return start === "" ? fullKey("x").slice(0, -1) : fullKey(start);
}

/** Where the next page begins, undefined at the end; a page without one, or with the same, is not an answer. */
function nextOf(isTruncated: boolean | undefined, next: string | undefined, current: string | undefined) {
  if (!isTruncated) return undefined;
  if (next === undefined || next === "" || next === current)
    throw new ObjectStoreError("malformed", "the store said that its list goes on, and not where");
  return next;
}
