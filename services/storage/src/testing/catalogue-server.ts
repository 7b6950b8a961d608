// Modrinth and Hangar as their documentation shows their answers, with files of our own.

import { createHash } from "node:crypto";
import { makeZip } from "../../../../libs/world/src/testing/zip.ts";
import { openSourceServer, type SourceServer } from "./source-server.ts";

export type CatalogueServer = SourceServer & {
  settings: string[];
  /** Adds a version to a project of Modrinth. */
  release: (project: string, about: Release) => void;
};

export const jarOf = (name: string): Buffer =>
  makeZip([
    { name: "plugin.yml", content: `name: ${name}\n` },
    { name: `${name}.class`, content: name },
  ]);

const hash = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest("hex");

type Release = {
  id: string;
  day: number;
  needs?: { project_id: string | null; dependency_type: string; file_name?: string }[];
  game?: string[];
  file?: Buffer;
  /** What the catalogue says of the file. */
  claims?: { sha512?: string; size?: number };
};

/** Answers below `/modrinth/v2` and `/hangar/api/v1`, files below `/files`. */
export async function openCatalogueServer(): Promise<CatalogueServer> {
  const server = await openSourceServer();
  const json = (path: string, body: unknown) =>
    server.put(path, (_request, response) => {
      response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
      response.end(JSON.stringify(body));
    });
  const releases = new Map<string, object[]>();
  const release = (project: string, about: Release) => {
    const file = about.file ?? jarOf(`${project}-${about.id}`);
    const filename = `${project}-${about.id}.jar`;
    server.put(`/files/${filename}`, file);
    const version = {
      ...{
        id: about.id,
        project_id: project,
        author_id: "Usr1",
        featured: false,
        name: `Release ${about.id}`,
      },
      ...{
        version_number: about.id.toLowerCase(),
        changelog: `What is new in\r\n**${about.id}**`,
        status: "listed",
      },
      dependencies: (about.needs ?? []).map((need) => ({ version_id: null, file_name: null, ...need })),
      ...{ game_versions: about.game ?? ["1.21.4"], version_type: "release", loaders: ["paper", "spigot"] },
      ...{ date_published: `2026-01-0${about.day}T10:00:00.000Z`, downloads: 12 },
      files: [
        {
          hashes: { sha1: hash("sha1", file), sha512: about.claims?.sha512 ?? hash("sha512", file) },
          url: `${server.origin}/files/${filename}`,
          ...{ filename, primary: true, size: about.claims?.size ?? file.length, file_type: null },
        },
      ],
    };
    const all = [version, ...(releases.get(project) ?? [])];
    releases.set(project, all);
    const shown = {
      ...{
        id: project,
        slug: project.toLowerCase(),
        title: `Project ${project}`,
        description: "Makes towers",
      },
      ...{ downloads: 1_200, project_type: "plugin", server_side: "required", client_side: "unsupported" },
    };
    json(`/modrinth/v2/project/${project}`, shown);
    json(`/modrinth/v2/project/${project}/version`, all);
  };
  putSearch(json);
  putHangar(server, json);
  const settings = [
    `storage.modrinth_url=${server.origin}/modrinth/v2`,
    `storage.hangar_url=${server.origin}/hangar/api/v1`,
    `storage.plugin_hosts=["${server.origin}"]`,
  ];
  return { ...server, settings, release };
}

function putHangar(server: SourceServer, json: (path: string, body: unknown) => void): void {
  const walls = jarOf("Walls");
  server.put("/files/Walls.jar", walls);
  const project = {
    ...{ createdAt: "2026-01-01T00:00:00Z", name: "Walls", namespace: { owner: "Ada", slug: "Walls" } },
    ...{
      stats: { views: 5, downloads: 7, stars: 1 },
      category: "world_management",
      description: "Makes walls",
    },
  };
  json("/hangar/api/v1/projects", { pagination: { limit: 20, offset: 0, count: 1 }, result: [project] });
  json("/hangar/api/v1/projects/Walls", project);
  const download = {
    fileInfo: { name: "Walls.jar", sizeBytes: walls.length, sha256Hash: hash("sha256", walls) },
    ...{ externalUrl: null, downloadUrl: `${server.origin}/files/Walls.jar` },
  };
  const hangarVersion = {
    ...{
      createdAt: "2026-01-02T00:00:00Z",
      visibility: "public",
      description: "First release",
      author: "Ada",
    },
    channel: { name: "Release", color: "#14b8a6", flags: [] },
    ...{ pluginDependencies: {}, platformDependencies: { PAPER: ["1.21.4"] } },
  };
  json("/hangar/api/v1/projects/Walls/versions", {
    pagination: { limit: 25, offset: 0, count: 2 },
    result: [
      { ...hangarVersion, name: "1.0", downloads: { PAPER: download } },
      {
        ...{ ...hangarVersion, name: "1.1", createdAt: "2026-01-03T00:00:00Z" },
        downloads: { PAPER: { fileInfo: null, externalUrl: "https://github.com/a", downloadUrl: null } },
      },
    ],
  });
}

function putSearch(json: (path: string, body: unknown) => void): void {
  json("/modrinth/v2/search", {
    hits: [
      {
        ...{
          project_id: "Towers",
          slug: "towers",
          title: "Towers\u202e <b>",
          description: "Makes\ntowers",
          author: "Ada",
        },
        ...{
          downloads: 1_200,
          project_type: "plugin",
          versions: ["1.21.4"],
          categories: ["paper"],
          follows: 2,
        },
      },
    ],
    ...{ offset: 0, limit: 20, total_hits: 1 },
  });
}
