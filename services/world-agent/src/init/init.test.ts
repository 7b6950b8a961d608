import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
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
import { initForwarding, withVelocity } from "./forwarding.ts";
import { prepareData } from "./prepare-data.ts";
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
const ownerOf = (path: string) => {
  const { uid, gid } = lstatSync(path);
  return [uid, gid];
};

describe("prepare-data", { skip: isRoot ? false : "only root may give files away" }, () => {
  test("everything in the volume belongs to 1000:1000 afterwards, whatever its name", () => {
    mkdirSync(inData("world/region"), { recursive: true });
    writeFileSync(inData("world/region/r.0.0.mca"), "");
    writeFileSync(Buffer.concat([Buffer.from(`${data}/odd-`), Buffer.from([0xff, 0xfe])]), "");
    const first = prepareData(data);
    assert.deepEqual([first.seen, first.changed, first.failed], [5, 5, 0]);
    assert.deepEqual(ownerOf(inData("world/region/r.0.0.mca")), [1000, 1000]);
    assert.deepEqual(ownerOf(data), [1000, 1000]);
    assert.deepEqual(prepareData(data), { seen: 5, changed: 0, failed: 0, failures: [] });
  });

  test("a link is given away itself, never what it points to, be it file or folder", () => {
    const outside = join(dir, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "secret"), "");
    symlinkSync(outside, inData("folder"));
    symlinkSync(join(outside, "secret"), inData("file"));
    symlinkSync("/nowhere", inData("dangling"));
    const { changed, failed } = prepareData(data);
    assert.deepEqual([changed, failed], [4, 0]);
    assert.deepEqual(ownerOf(inData("folder")), [1000, 1000]);
    assert.deepEqual(ownerOf(outside), [0, 0]);
    assert.deepEqual(ownerOf(join(outside, "secret")), [0, 0]);
  });

  test("a tree deeper than any path can name is given away with a few descriptors", () => {
    const levels = 2_500;
    execFileSync(
      "sh",
      ["-c", `for i in $(seq ${levels}); do mkdir d && cd -P d || exit 1; done; echo in > in`],
      {
        cwd: data,
      },
    );
    // As many files as a process may open in most places.
    const prepare = `import { prepareData } from "./prepare-data.ts";
      process.stdout.write(JSON.stringify(prepareData(${JSON.stringify(data)})));`;
    const script = [
      "-c",
      'ulimit -n 128 && exec "$0" --input-type=module -e "$1"',
      process.execPath,
      prepare,
    ];
    const { stdout } = spawnSync("sh", script, { cwd: import.meta.dirname, encoding: "utf8" });
    assert.deepEqual(JSON.parse(stdout), { seen: levels + 2, changed: levels + 2, failed: 0, failures: [] });
    assert.deepEqual(ownerOf(inData("d/d/d")), [1000, 1000]);
    execFileSync("rm", ["-rf", inData("d")]);
  });

  test("a volume that is a link itself is refused", () => {
    symlinkSync(data, join(dir, "link"));
    assert.throws(() => prepareData(join(dir, "link")), { code: /ENOTDIR|ELOOP/ as never });
  });

  test("what cannot be given away is counted, twenty of it are named, and the rest goes on", () => {
    for (let index = 0; index < 25; index++) writeFileSync(inData(`file-${index}`), "");
    // No such user exists for the kernel: every single chown is refused.
    const { seen, failed, failures } = prepareData(data, { uid: -2 as number, gid: 1000 });
    assert.deepEqual([seen, failed, failures.length], [26, 26, 20]);
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
      env,
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
