import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Subset } from "../controllers/network/endpoints.ts";
import { subsetsOf } from "../controllers/network/endpoints.ts";
import type { Service } from "../controllers/network/service-index.ts";
import type { Pod } from "../controllers/objects.ts";
import { routesOf } from "./service-proxy.ts";

function serviceOf(clusterIP = "127.96.0.9"): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "s", namespace: "games" },
    spec: {
      clusterIP,
      ports: [
        { name: "game", port: 25565, targetPort: "play" },
        { name: "rcon", port: 25575 },
      ],
    },
  };
}

function podOf(name: string, ip: string, ready: boolean): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "games", uid: name },
    spec: { containers: [{ name: "c", image: "i", ports: [{ name: "play", containerPort: 7000 }] }] },
    status: {
      podIP: ip,
      phase: "Running",
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
    },
  };
}

const endpoints = (subsets: Subset[]) => ({
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { name: "s" },
  subsets,
});

describe("the endpoints of a service", () => {
  it("list ready and unready pods separately and resolve named ports", () => {
    const [subset] = subsetsOf(serviceOf(), [
      podOf("b", "127.64.0.2", false),
      podOf("a", "127.64.0.1", true),
    ]);
    assert.deepEqual(
      subset?.ports?.map(({ port }) => port),
      [7000, 25_575],
    );
    assert.deepEqual(
      subset?.addresses?.map(({ ip }) => ip),
      ["127.64.0.1"],
    );
    assert.deepEqual(
      subset?.notReadyAddresses?.map(({ ip }) => ip),
      ["127.64.0.2"],
    );
  });

  it("leave out pods that have ended, are being deleted, or have no address yet", () => {
    const ended = podOf("a", "127.64.0.1", false);
    ended.status = { ...ended.status, phase: "Succeeded" };
    const going = podOf("b", "127.64.0.2", true);
    going.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    assert.deepEqual(subsetsOf(serviceOf(), [ended, going, podOf("c", "", true)]), []);
  });
});

describe("the relay", () => {
  it("listens on each port of the cluster address for the ready pods only", () => {
    const pods = [podOf("a", "127.64.0.1", true), podOf("b", "127.64.0.2", false)];
    const routes = routesOf(serviceOf(), endpoints(subsetsOf(serviceOf(), pods)));
    assert.deepEqual(
      [...routes],
      [
        ["127.96.0.9:25565", [{ host: "127.64.0.1", port: 7000 }]],
        ["127.96.0.9:25575", [{ host: "127.64.0.1", port: 25_575 }]],
      ],
    );
  });

  it("does not listen for a headless service or without a ready pod", () => {
    const unready = subsetsOf(serviceOf(), [podOf("a", "127.64.0.1", false)]);
    assert.equal(routesOf(serviceOf(), endpoints(unready)).size, 0);
    assert.equal(routesOf(serviceOf(), undefined).size, 0);
    const ready = subsetsOf(serviceOf(), [podOf("a", "127.64.0.1", true)]);
    assert.equal(routesOf(serviceOf("None"), endpoints(ready)).size, 0);
  });
});
