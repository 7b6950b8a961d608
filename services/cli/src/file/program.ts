import type { Command } from "commander";
import { type Common, command, group, runs, yes } from "../program.ts";

type FetchOptions = { sha256?: string; overwrite?: boolean };
type UnzipOptions = { overwrite?: boolean; skipProtected?: boolean };
type SearchOptions = { names?: boolean; content?: boolean; matchCase?: boolean };

const load = () => import("./commands.ts");

export function addFileCommands(program: Command): void {
  const files = group(program, "files", "files of a stopped server's world");
  command(files, "ls <server> [path]", {
    does: "list a folder",
    example: "files ls survival config",
  }).action(
    runs(async (options, server, path) => (await load()).listFolder(server ?? "", path ?? "", options)),
  );
  command(files, "search <server> <text> [path]", {
    does: "look for a text in names and content, below a folder; it is taken as it stands",
    example: "files search survival view-distance plugins",
  })
    .option("--names", "only in names of files and folders")
    .option("--content", "only in the content of files")
    .option("--match-case", "tell large and small letters apart")
    .action(
      runs(async (options: Common & SearchOptions, server, text, path) =>
        (await import("./search.ts")).searchFiles(
          { name: server ?? "", text: text ?? "", path: path ?? "" },
          options,
        ),
      ),
    );
  command(files, "get <server> <path> [file]", {
    does: "download a file, or a folder as a zip (path ending in /); - writes to standard output",
    example: "files get survival logs/latest.log",
  })
    .option("--force", "overwrite an existing local file")
    .action(
      runs(async (options: Common & { force?: boolean }, server, path, file) =>
        (await import("./get.ts")).getFile({ server: server ?? "", path: path ?? "", file }, options),
      ),
    );
  command(files, "put <server> <file> <path>", {
    does: "upload a file; a path ending in / keeps its name",
    example: "files put survival ./plugin.jar plugins/ --overwrite",
  })
    .option("--overwrite", "overwrite an existing file")
    .action(
      runs(async (options: Common & { overwrite?: boolean }, server, file, path) =>
        (await import("./put.ts")).putFile(
          { server: server ?? "", file: file ?? "", path: path ?? "" },
          options,
        ),
      ),
    );
  addChanges(files);
  addArchives(files);
}

function addChanges(files: Command): void {
  command(files, "mkdir <server> <path>", {
    does: "create a folder",
    example: "files mkdir survival plugins",
  }).action(
    runs(async (options, server, path) => (await load()).makeFolder(server ?? "", path ?? "", options)),
  );
  command(files, "mv <server> <path> <to>", {
    does: "move or rename a file or folder (a target ending in / keeps the name); it never replaces anything",
    example: "files mv survival plugins/old.jar plugins/kept/",
  }).action(
    runs(async (options, server, path, to) =>
      (await load()).movePath({ name: server ?? "", path: path ?? "", to: to ?? "" }, options),
    ),
  );
  command(files, "rm <server> <path>", {
    does: "delete a file, or a folder with its contents",
    example: "files rm survival plugins/old.jar --yes",
  })
    .addOption(yes())
    .action(
      runs(async (options: Common & { yes?: boolean }, server, path) =>
        (await load()).removePath(server ?? "", path ?? "", options),
      ),
    );
  command(files, "history <server> <path> [version]", {
    does: "list the earlier versions of a text file, or show what one of them has otherwise",
    example: "files history survival plugins/Essentials/config.yml",
  }).action(
    runs(async (options, server, path, version) =>
      (await import("./history.ts")).showHistory(
        { name: server ?? "", path: path ?? "", id: version },
        options,
      ),
    ),
  );
  command(files, "undo <server> <path> [version]", {
    does: "bring an earlier version of a text file back, the newest unless one is named",
    example: "files undo survival plugins/Essentials/config.yml --yes",
  })
    .addOption(yes())
    .action(
      runs(async (options: Common & { yes?: boolean }, server, path, version) =>
        (await import("./history.ts")).undo({ name: server ?? "", path: path ?? "", id: version }, options),
      ),
    );
  command(files, "edit <server> <path>", {
    does: "edit a text file of up to 256 KiB in your editor ($VISUAL, $EDITOR or vi)",
    example: "files edit survival bukkit.yml",
  }).action(
    runs(async (options, server, path) =>
      (await import("./edit.ts")).editFile(server ?? "", path ?? "", options),
    ),
  );
}

function addArchives(files: Command): void {
  command(files, "archive <server> <zip> <names...>", {
    does: "pack files and folders as a zip beside them; it never replaces a file",
    example: "files archive survival plugins/old.zip Essentials Essentials.jar",
  }).action(
    runs(async (options, server, zip, ...names) =>
      (await import("./archive.ts")).archiveFiles({ name: server ?? "", path: zip ?? "", names }, options),
    ),
  );
  command(files, "unzip <server> <zip>", {
    does: "extract a zip into the folder it is in; either everything is extracted or nothing",
    example: "files unzip survival old.zip --skip-protected",
  })
    .option("--overwrite", "replace existing files")
    .option("--skip-protected", "leave out files that the platform writes itself, such as server.properties")
    .action(
      runs(async (options: Common & UnzipOptions, server, zip) =>
        (await import("./unzip.ts")).unzipFile({ name: server ?? "", path: zip ?? "" }, options),
      ),
    );
  command(files, "fetch <server> <url> <path>", {
    does: "fetch a file from an allowed address into the world (path ending in /: keeps the name)",
    example: "files fetch survival https://repo.example.net/Essentials.jar plugins/",
  })
    .option("--sha256 <hex>", "expected SHA-256 of the file; it is discarded if it differs")
    .option("--overwrite", "replace an existing file")
    .action(
      runs(async (options: Common & FetchOptions, server, url, path) =>
        (await import("./fetch.ts")).fetchFile(
          { server: server ?? "", url: url ?? "", path: path ?? "" },
          options,
        ),
      ),
    );
}
