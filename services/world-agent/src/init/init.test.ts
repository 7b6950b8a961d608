import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseAddress, waitForFence } from "@svc/kube/egress-gate";
import { parse } from "yaml";
import { checkVolume } from "./check-volume.ts";
import { initForwarding, withVelocity } from "./forwarding.ts";
import { withProperty } from "./properties.ts";

let dir: string;
let data: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "svc-init-"));
  data = join(dir, "data");
  mkdirSync(data);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const inData = (name: string) => join(data, name);
const isRoot = process.getuid?.() === 0;

/** Runs the check as the user that servers run as. */
function checkAsTheGame(): ReturnType<typeof checkVolume> {
  chmodSync(dir, 0o755);
  const script = `import { checkVolume } from "./check-volume.ts";
    process.stdout.write(JSON.stringify(checkVolume(${JSON.stringify(data)})));`;
  // As many files as a process may open in most places.
  const args = ["-c", 'ulimit -n 128 && exec "$0" --input-type=module -e "$1"', process.execPath, script];
  const options = { cwd: import.meta.dirname, encoding: "utf8", uid: 1000, gid: 1000 } as const;
  const { stdout, stderr } = spawnSync("sh", args, options);
  assert.ok(stdout, stderr);
  return JSON.parse(stdout) as ReturnType<typeof checkVolume>;
}

describe("prepare-data", { skip: isRoot ? false : "only root can make files of others" }, () => {
  const isTheGames = (...names: string[]) => {
    for (const name of ["", ...names]) lchownSync(inData(name), 1000, 1000);
  };

  test("a world of the game's own user is usable, whatever it shut itself and wherever links lead", () => {
    mkdirSync(inData("shut"), { mode: 0o000 });
    writeFileSync(inData("blind"), "", { mode: 0o000 });
    symlinkSync("/root", inData("link"));
    mkdirSync(inData("lost+found"), { mode: 0o700 });
    isTheGames("shut", "blind");
    assert.deepEqual(checkAsTheGame(), { seen: 4, closed: 0, paths: [] });
  });

  test("files of others are no problem where they are open to the game, as fsGroup makes them", () => {
    mkdirSync(inData("region"));
    writeFileSync(inData("region/r.0.0.mca"), "");
    for (const [name, mode] of [
      ["", 0o2775],
      ["region", 0o2775],
      ["region/r.0.0.mca", 0o660],
    ] as const) {
      chownSync(inData(name), 0, 1000);
      chmodSync(inData(name), mode);
    }
    assert.deepEqual(checkAsTheGame(), { seen: 3, closed: 0, paths: [] });
  });

  test("files of others that are closed to the game are counted, and twenty of them named", () => {
    isTheGames();
    for (let index = 0; index < 25; index++) writeFileSync(inData(`file-${index}`), "", { mode: 0o600 });
    mkdirSync(inData("read-only"), { mode: 0o755 });
    const { seen, closed, paths } = checkAsTheGame();
    assert.deepEqual([seen, closed, paths.length], [27, 26, 20]);
    chmodSync(data, 0o700);
    chownSync(data, 0, 0);
    assert.deepEqual(checkAsTheGame(), { seen: 1, closed: 1, paths: ["."] });
  });

  test("a tree deeper than any path can name is looked at with a few descriptors", () => {
    // 8,000 characters, of 4,096 that a path may have.
    const levels = 200;
    const name = "d".repeat(39);
    const make = `const { mkdirSync, writeFileSync } = require("node:fs");
      for (let n = 0; n < ${levels}; n++) { mkdirSync("${name}"); process.chdir("${name}"); }
      writeFileSync("in", "");`;
    chmodSync(dir, 0o755);
    isTheGames();
    execFileSync(process.execPath, ["-e", make], { cwd: data, uid: 1000, gid: 1000 });
    assert.deepEqual(checkAsTheGame(), { seen: levels + 2, closed: 0, paths: [] });
    execFileSync("rm", ["-rf", inData(name)]);
  });

  test("a volume that is a link itself is refused", () => {
    symlinkSync(data, join(dir, "link"));
    assert.throws(() => checkVolume(join(dir, "link")), { code: /ENOTDIR|ELOOP/ as never });
  });

  test("the step fails with what to do about it, and leaves the world as it is", () => {
    writeFileSync(inData("level.dat"), "theirs", { mode: 0o600 });
    isTheGames();
    chmodSync(dir, 0o755);
    const args = [join(import.meta.dirname, "main.ts"), "init-volume", "--data", data];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", uid: 1000, gid: 1000 });
    assert.equal(status, 1);
    assert.match(stderr, /1 of 2 files and folders .* such as level\.dat; .*chown -R 1000:1000/);
  });
});

describe("init-forwarding", () => {
  const paper = () => readFileSync(inData("config/paper-global.yml"), "utf8");
  const properties = () => readFileSync(inData("server.properties"), "utf8");

  test("an empty world gets both files, for the server's user alone", () => {
    assert.deepEqual(initForwarding(data, "s3cret"), ["config/paper-global.yml", "server.properties"]);
    const velocity = { enabled: true, "online-mode": true, secret: "s3cret" };
    assert.deepEqual(parse(paper()), { proxies: { velocity } });
    assert.equal(properties(), "online-mode=false\n");
    assert.equal(statSync(inData("config/paper-global.yml")).mode & 0o777, 0o600);
  });

  test("a second run writes nothing, another secret is taken over", () => {
    initForwarding(data, "one");
    const before = statSync(inData("server.properties")).mtimeMs;
    assert.deepEqual(initForwarding(data, "one"), []);
    assert.equal(statSync(inData("server.properties")).mtimeMs, before);
    assert.deepEqual(initForwarding(data, "two"), ["config/paper-global.yml"]);
    assert.match(paper(), /secret: two/);
  });

  test("without a secret nothing is touched", () => {
    assert.deepEqual(initForwarding(data, ""), []);
    assert.equal(existsSync(inData("config")), false);
  });

  test("what the owner wrote stays, comments and all", () => {
    mkdirSync(inData("config"));
    const before =
      "# mine ü\nchunk-loading:\n  rate: 5 # fast\nproxies:\n  bungee-cord:\n    online-mode: true\n  velocity:\n    enabled: false\n    secret: ''\n";
    writeFileSync(inData("config/paper-global.yml"), before);
    writeFileSync(
      inData("server.properties"),
      "#Minecraft\nmotd=Gr\\u00fc\\u00dfe\nonline-mode=true\nmax-players=5\n",
    );
    initForwarding(data, "s");
    assert.match(paper(), /^# mine ü\nchunk-loading:\n {2}rate: 5 # fast\n/);
    const { proxies } = parse(paper());
    assert.deepEqual(proxies["bungee-cord"], { "online-mode": true });
    assert.deepEqual(proxies.velocity, { enabled: true, secret: "s", "online-mode": true });
    assert.equal(properties(), "#Minecraft\nmotd=Gr\\u00fc\\u00dfe\nonline-mode=false\nmax-players=5\n");
  });

  for (const [fact, text] of [
    ["is not YAML", "a: [1\nb: }"],
    ["is not a map", "- 1\n- 2\n"],
  ] as const) {
    test(`a paper-global.yml that ${fact} is set aside, and forwarding is on all the same`, () => {
      mkdirSync(inData("config"));
      writeFileSync(inData("config/paper-global.yml"), text);
      initForwarding(data, "s");
      assert.equal(readFileSync(inData("config/paper-global.yml.unreadable"), "utf8"), text);
      assert.equal(parse(paper()).proxies.velocity.secret, "s");
    });
  }

  test("a secret with quotes and newlines stays a secret", () => {
    const secret = "a\"b\n  enabled: false #'";
    const text = withVelocity("", secret) ?? "";
    assert.deepEqual(parse(text).proxies.velocity, { enabled: true, "online-mode": true, secret });
  });

  test("a file that links out of the volume is replaced, what it points to is not touched", () => {
    const outside = join(dir, "passwd");
    writeFileSync(outside, "root\n");
    mkdirSync(inData("config"));
    symlinkSync(outside, inData("config/paper-global.yml"));
    symlinkSync(outside, inData("server.properties"));
    initForwarding(data, "s");
    assert.equal(readFileSync(outside, "utf8"), "root\n");
    assert.ok(lstatSync(inData("config/paper-global.yml")).isFile());
    assert.equal(properties(), "online-mode=false\n");
  });

  test("a config folder that links out of the volume stops the start", () => {
    const outside = join(dir, "outside");
    mkdirSync(outside);
    symlinkSync(outside, inData("config"));
    assert.throws(() => initForwarding(data, "s"), /ENOTDIR|ELOOP/);
    assert.equal(existsSync(join(outside, "paper-global.yml")), false);
  });

  test("a partial that somebody laid out as a link is not written through", () => {
    const outside = join(dir, "target");
    writeFileSync(outside, "before");
    symlinkSync(outside, inData(".server.properties.svc-partial"));
    initForwarding(data, "s");
    assert.equal(readFileSync(outside, "utf8"), "before");
  });

  test("a hard link is parted from its twin instead of written through", () => {
    writeFileSync(join(dir, "twin"), "online-mode=true\n");
    linkSync(join(dir, "twin"), inData("server.properties"));
    initForwarding(data, "s");
    assert.equal(readFileSync(join(dir, "twin"), "utf8"), "online-mode=true\n");
    assert.equal(properties(), "online-mode=false\n");
  });

  test("a named pipe holds nothing up", () => {
    assert.equal(spawnSync("mkfifo", [inData("server.properties")]).status, 0);
    initForwarding(data, "s");
    assert.equal(properties(), "online-mode=false\n");
  });
});

describe("one property of a file", () => {
  const rows: [fact: string, before: string, after: string][] = [
    ["is added to an empty file", "", "online-mode=false\n"],
    ["is added after a line without an end", "motd=a", "motd=a\nonline-mode=false\n"],
    ["is not swallowed by a line that goes on", "motd=a\\\n", "motd=a\\\n\nonline-mode=false\n"],
    ["is set where it stands", "a=1\nonline-mode=true\nb=2\n", "a=1\nonline-mode=false\nb=2\n"],
    ["is found with a colon and spaces", "  online-mode : true\n", "online-mode=false\n"],
    ["is found with escapes in its name", "online\\-mode=true\n", "online-mode=false\n"],
    ["is found with a code in its name", "\\u006fnline-mode=true\n", "online-mode=false\n"],
    ["is found over two lines", "online-\\\n   mode=true\nb=1\n", "online-mode=false\nb=1\n"],
    [
      "is left once when it stands twice",
      "online-mode=false\na=1\nonline-mode=true\n",
      "online-mode=false\na=1\n",
    ],
    ["is not taken out of a comment", "#online-mode=true\n", "#online-mode=true\nonline-mode=false\n"],
    [
      "is not taken out of another value",
      "motd=x\\\nonline-mode=true\n",
      "motd=x\\\nonline-mode=true\nonline-mode=false\n",
    ],
    [
      "stays as it is with the ends of another system",
      "online-mode=false\r\na=1\r\n",
      "online-mode=false\r\na=1\r\n",
    ],
  ];
  for (const [fact, before, after] of rows) {
    test(fact, () => {
      assert.equal(withProperty(before, "online-mode", "false"), after);
      assert.equal(withProperty(after, "online-mode", "false"), after);
    });
  }
});

describe("egress-gate", () => {
  const open: Server[] = [];
  afterEach(async () => {
    for (const server of open.splice(0)) await new Promise((resolve) => server.close(resolve));
  });
  const listen = async (port = 0): Promise<string> => {
    const server = createServer((socket) => socket.destroy());
    open.push(server);
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    const address = server.address();
    return `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  };
  const closed = async (): Promise<string> => {
    const address = await listen();
    await new Promise((resolve) => open.pop()?.close(resolve));
    return address;
  };

  test("it opens when what must answer answers and what must not does not", async () => {
    const options = { waitMs: 5_000, positiveProbe: await listen(), probe: await closed() };
    assert.equal(await waitForFence(options), undefined);
  });

  test("it waits for a network that comes up late", async () => {
    const address = await closed();
    const waiting = waitForFence({ waitMs: 10_000, positiveProbe: address });
    await listen(parseAddress(address).port);
    assert.equal(await waiting, undefined);
  });

  test("it says what is wrong when its time is over", async () => {
    const [reached, silent] = [await listen(), await closed()];
    assert.match((await waitForFence({ waitMs: 1, probe: reached })) ?? "", /can be reached/);
    assert.match((await waitForFence({ waitMs: 1, positiveProbe: silent })) ?? "", /does not answer/);
  });

  for (const text of ["", "host", "host:0", "host:65536", ":53", "a b:1", "::1:53"]) {
    test(`${JSON.stringify(text)} is not an address`, () =>
      assert.throws(() => parseAddress(text), /not host:port/));
  }
  test("an IPv6 address stands in brackets", () =>
    assert.deepEqual(parseAddress("[::1]:53"), { host: "::1", port: 53 }));
});

describe("as an init container runs it", () => {
  const main = fileURLToPath(new URL("./main.ts", import.meta.url));
  const run = (args: string[], env: Record<string, string> = {}) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
      env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...env },
      encoding: "utf8",
    });
    return { status, said: JSON.parse(status === 0 ? stdout : stderr) as Record<string, unknown> };
  };

  test("each step ends with one line that says what it did", () => {
    if (isRoot) chownSync(data, 1000, 1000);
    const secretFile = join(dir, "secret");
    writeFileSync(secretFile, "s\n");
    const forwarding = run(["init-forwarding", "--data", data], { SVC_FORWARDING_SECRET_FILE: secretFile });
    assert.deepEqual(forwarding.said["written"], ["config/paper-global.yml", "server.properties"]);
    const gate = run(["egress-gate", "--wait", "0.1s", "--fail-open", "--positive-probe", "127.0.0.1:1"]);
    assert.deepEqual([gate.status, gate.said["fenced"]], [0, false]);
    const volume = run(["init-volume", "--data", data]);
    assert.equal(typeof volume.said["seen"], "number");
  });

  const refusals: [args: string[], error: RegExp][] = [
    [["egress-gate", "--wait", "0.1s", "--positive-probe", "127.0.0.1:1"], /egress policy is not enforced/],
    [["egress-gate", "--wait", "soon"], /not a time such as 30s/],
    [["init-volume"], /--data is missing/],
    [["init-volume", "--data", "/nowhere/at/all"], /ENOENT/],
    [["init-world"], /there is no step/],
    [["init-volume", "--dta", "x"], /Unknown option/],
  ];
  for (const [args, error] of refusals) {
    test(`${args.join(" ")} ends with 1 and a sentence`, () => {
      const { status, said } = run(args);
      assert.equal(status, 1);
      assert.match(String(said["error"]), error);
    });
  }
});
