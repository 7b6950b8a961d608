// Chooses the binding of a contract by its kind.

import type { Mesh } from "@svc/mesh";
import type { ChangeBinding, Operation } from "@svc/proto";
import type { Logger, Registry } from "@svc/telemetry";
import type { Authenticator } from "../access/authenticate.ts";
import type { Sessions } from "../access/sessions.ts";
import type { FaceSettings } from "../settings.ts";
import { cachedItemBinding, cachedListBinding, createMirrors } from "./cached-view.ts";
import type { Binding } from "./call.ts";
import { type ChangeFeed, createChangeFeed } from "./change-feed.ts";
import { downloadBinding } from "./download.ts";
import { createEventStreams } from "./event-stream.ts";
import { imageBinding } from "./image.ts";
import { jsonBinding } from "./json.ts";
import { pageCollector, pagedListBinding } from "./paged-list.ts";
import { createRecentChanges } from "./recent-changes.ts";
import { createTransferRights } from "./transfer-rights.ts";
import { uploadBinding } from "./upload.ts";
import { createRowSource } from "./view-rows.ts";

type BindingDeps = {
  mesh: Pick<Mesh, "forward" | "listen" | "mirrorView" | "readLiveLog" | "status">;
  sessions?: Sessions | undefined;
  authenticator: Authenticator;
  settings: FaceSettings;
  registry: Registry;
  log: Logger;
};

type Bindings = {
  of: (contract: Operation) => Binding;
  endStreams: () => void;
  close: () => Promise<void>;
};

export function createBindings(deps: BindingDeps): Bindings {
  const { mesh, settings } = deps;
  const mirrors = createMirrors(mesh);
  const streams = createEventStreams(deps);
  const rights = createTransferRights(deps);
  const changes = createRecentChanges();

  const json = (contract: Operation): Binding => {
    const { view, collect: isCollected } = contract.http;
    const collect = pageCollector(mesh, contract, settings.collectedPages);
    const otherwise =
      isCollected === undefined ? jsonBinding(deps, contract) : pagedListBinding(collect, contract);
    if (!view) return otherwise;
    const beside = view.beside && mirrors.of(view.beside);
    const rows = createRowSource({ of: mirrors.of(view.of), beside }, view, deps.log);
    const shared = { rows, changes, otherwise };
    if (view.as === "item") return cachedItemBinding({ ...shared, item: view });
    const listedAs = view.rows?.listedAs;
    const list = { ...shared, collect, rebuildMs: settings.viewRebuildMs };
    return cachedListBinding({ ...list, ...(listedAs && { listedAs }) }, contract);
  };
  const feeds: ChangeFeed[] = [];
  const changesBinding = (binding: ChangeBinding): Binding => {
    const both = { of: mirrors.of(binding.of), beside: mirrors.of(binding.beside) };
    const { changeFlushMs: flushMs, changeOverlapMs: overlapMs, streamResumeSeconds } = settings;
    const limits = { resumeMs: streamResumeSeconds * 1_000, overlapMs };
    const feed = createChangeFeed({ mesh, mirrors: both, binding, log: deps.log, flushMs, limits });
    feeds.push(feed);
    return (call) => streams.openChanges(call, feed);
  };
  const bindingOf = (contract: Operation): Binding => {
    const { kind, changes: binding, image, publicForSeconds } = contract.http;
    if (image) return imageBinding(image, mirrors.of(image.of), publicForSeconds);
    if (kind === "events") {
      streams.follow(contract);
      return binding ? changesBinding(binding) : streams.open;
    }
    if (kind === "upload") return uploadBinding({ mesh, settings, rights }, contract);
    if (kind === "download") return downloadBinding({ mesh, settings, rights }, contract);
    return json(contract);
  };

  return {
    of: (contract) => changes.noting(contract, bindingOf(contract)),
    endStreams: streams.close,
    close: () => {
      rights.close();
      for (const feed of feeds) feed.close();
      return mirrors.close();
    },
  };
}
