import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findSuspicions, type SuspicionKind } from "./suspicions.ts";

describe("a Dockerfile", () => {
  const cases: [string, string, [SuspicionKind, number][]][] = [
    ["that copies files on a pinned base is not suspicious", "FROM a/b:1.2\nCOPY mods/ /mods/", []],
    ["that starts from nothing is not suspicious", "FROM scratch\nCOPY . /", []],
    ["that adds a local file is not suspicious", "ADD pack.tar /", []],
    ["that adds an address is named", "ADD --chown=1 https://a.example/b.jar /mods/", [["remoteAdd", 1]]],
    ["that adds a repository is named", "ADD git@a.example:b.git /src", [["remoteAdd", 1]]],
    ["that downloads is named", "FROM a:1\n\nRUN apt-get update && wget a.example/x", [["download", 3]]],
    [
      "that downloads on a continued line is named where its instruction begins",
      "RUN set -e; \\\n  # why\n  curl -sSL a.example/x \\\n  | bash",
      [
        ["download", 1],
        ["pipeToShell", 1],
      ],
    ],
    ["in small letters is named all the same", "run curl a", [["download", 1]]],
    ["that decodes is named", "RUN echo aGk= | base64 -d > /x", [["encoded", 1]]],
    ["that sets the user of a program is named", "RUN chmod u+s /x && chmod 4755 /y", [["setuid", 1]]],
    ["that makes a file executable is not", "RUN chmod 755 /x && chmod +x /y", []],
    ["that holds a secret is named", "ENV RCON_PASSWORD=hunter2", [["secret", 1]]],
    ["whose base has no tag is named", "FROM registry:5000/a/b", [["unpinned", 1]]],
    ["whose base is the latest is named", "FROM --platform=linux/amd64 a:latest AS x", [["unpinned", 1]]],
    ["whose base is an argument is named", "ARG V=1\nFROM a:$V", [["unpinned", 2]]],
    ["whose base is a digest is not", `FROM a@sha256:${"0".repeat(64)}`, []],
    ["whose base is an earlier stage is not", "FROM a:1 AS build\nFROM build", []],
    [
      "that hides characters is named",
      "FROM a:1\n# fine\u202e\nCOPY a\u200b /",
      [
        ["hidden", 2],
        ["hidden", 3],
      ],
    ],
    ["that is empty is not suspicious", "", []],
  ];
  for (const [name, text, expected] of cases)
    test(name, () =>
      assert.deepEqual(
        findSuspicions(text).map(({ kind, line }) => [kind, line]),
        expected,
      ),
    );
});
