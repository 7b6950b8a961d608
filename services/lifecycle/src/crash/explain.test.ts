import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { crashes } from "@svc/proto";
import { causeTable, type Exit } from "./causes.ts";
import { explain, isCrash, textOf } from "./explain.ts";

const failed: Exit = { code: 1, reason: "Error" };

type Sample = [
  cause: crashes.CrashCause,
  what: string,
  log: string,
  detail?: string | undefined,
  exit?: Exit,
];

/** Excerpts of logs that people posted in the trackers of the games' servers. */
const samples: readonly Sample[] = [
  [
    "eula",
    "vanilla 1.7.10",
    `[01:18:56] [Server thread/INFO]: Loading properties
[01:18:56] [Server thread/INFO]: You need to agree to the EULA in order to run the server. Go to eula.txt for more info.
[01:18:56] [Server thread/INFO]: Stopping server`,
    undefined,
    { code: 0, reason: "Completed" },
  ],
  [
    "eula",
    "Paper",
    "[10:26:22 INFO]: You need to agree to the EULA in order to run the server. Go to eula.txt for more info.",
  ],
  [
    "port_in_use",
    "Paper 1.21",
    `[22:40:52 WARN]: **** FAILED TO BIND TO PORT!
[22:40:52 WARN]: The exception was: io.netty.channel.unix.Errors$NativeIoException: bind(..) failed: Address already in use
[22:40:52 WARN]: Perhaps a server is already running on that port?
[22:40:52 ERROR]: Encountered an unexpected exception
java.lang.IllegalStateException: Failed to bind to port`,
  ],
  [
    "port_in_use",
    "Forge with the class in the tag",
    "[21:10:43] [Server thread/WARN] [net.minecraft.server.dedicated.DedicatedServer]: **** FAILED TO BIND TO PORT!",
  ],
  [
    "wrong_java",
    "the bundler on Java 11",
    `Error: LinkageError occurred while loading main class net.minecraft.bundler.Main
        java.lang.UnsupportedClassVersionError: net/minecraft/bundler/Main has been compiled by a more recent version of the Java Runtime (class file version 61.0), this version of the Java Runtime only recognizes class file versions up to 55.0`,
    "net/minecraft/bundler/Main",
  ],
  [
    "wrong_java",
    "vanilla on Java 8",
    `Exception in thread "main" java.lang.UnsupportedClassVersionError: net/minecraft/server/Main has been compiled by a more recent version of the Java Runtime (class file version 60.0), this version of the Java Runtime only recognizes class file versions up to 52.0
	at java.lang.ClassLoader.defineClass1(Native Method)`,
    "net/minecraft/server/Main",
  ],
  [
    "missing_dependency",
    "Fabric",
    `[12:00:00] [main/ERROR]: Incompatible mods found!
net.fabricmc.loader.impl.FormattedException: Some of your mods are incompatible with the game or each other!
A potential solution has been determined, this may resolve your problem:
	 - Install fabric-api, version 0.92.2+1.20.1 or later.
More details:
	 - Mod 'Ad Astra' (ad_astra) 1.15.19 requires any version of fabric-api, which is missing!`,
    "Ad Astra",
  ],
  [
    "missing_dependency",
    "Forge 1.21",
    `[01:20:47] [main/ERROR] [ne.mi.fm.lo.ModSorter/LOADING]: Missing or unsupported mandatory dependencies:
        Mod ID: 'forgeconfigapiport', Requested by: 'openpartiesandclaims', Expected range: '[21.4.0,)', Actual version: '[MISSING]'`,
    "forgeconfigapiport",
  ],
  [
    "missing_dependency",
    "Forge 1.18",
    "[20:16:21] [main/ERROR] [ne.mi.fm.lo.ModSorter/LOADING]: Missing mandatory dependencies: forge, dummy",
    "forge, dummy",
  ],
  [
    "missing_dependency",
    "a plugin of Paper",
    `[22:13:00] [Server thread/ERROR]: Could not load 'plugins/CMI9.1.4.1.jar' in folder 'plugins'
org.bukkit.plugin.UnknownDependencyException: Unknown/missing dependency plugins: [CMILib]. Please download and install these plugins to run 'CMI'.`,
    "Unknown/missing dependency plugins: [CMILib]. Please download and install these plugins to run 'CMI'.",
  ],
  [
    "mod_conflict",
    "Fabric, wrong version",
    `Incompatible mods found!
net.fabricmc.loader.impl.FormattedException: Some of your mods are incompatible with the game or each other!
A potential solution has been determined, this may resolve your problem:
	 - Replace mod 'Fabric Loader' (fabricloader) 0.16.4 with version 0.16.10 or later.`,
    "Some of your mods are incompatible",
  ],
  [
    "mod_conflict",
    "Forge 1.12, twice the same mod",
    `[16:21:08] [Server thread/FATAL] [FML]: Found a duplicate mod replaymod-restrictions at [/MCservers/./mods/replaymod-1.12.2-2.5.2.jar, ./mods/replaymod-1.12.2-2.5.2.jar]
[16:21:08] [Server thread/ERROR] [minecraft/MinecraftServer]: Encountered an unexpected exception`,
    "replaymod-restrictions",
  ],
  [
    "mod_conflict",
    "Forge 1.20, twice the same mod",
    `[11:15:00] [main/ERROR]: Failed to build unique mod list after mod discovery.
net.minecraftforge.fml.loading.EarlyLoadingException: Duplicate mods found`,
  ],
  [
    "mod_conflict",
    "two mixins",
    "[21:11:41] [main/ERROR]: Mixin apply for mod carpet-fixes failed carpet-fixes.mixins.json:backports.LightningRodBlock_PermanentlyPoweredMixin -> net.minecraft.class_5554: org.spongepowered.asm.mixin.injection.throwables.InvalidInjectionException",
    "carpet-fixes",
  ],
  [
    "mod_conflict",
    "a mixin without its target",
    "Caused by: org.spongepowered.asm.mixin.injection.throwables.InjectionError: Critical injection failure: Redirector randomDisplayTick$BlockState$isOf(Lnet/minecraft/class_2680;Lnet/minecraft/class_2248;)Z in moretags.mixins.json:bookshelves.EnchantingTableBlockMixin from mod moretags failed injection check",
  ],
  [
    "world_in_use",
    "Paper 1.18",
    `[15:34:17 FATAL]: Failed to start the minecraft server
net.minecraft.util.SessionLock$ExceptionWorldConflict: /root/Lobby/./world/session.lock: already locked (possibly by other Minecraft instance?)`,
    "/root/Lobby/./world/session.lock",
  ],
  [
    "newer_world",
    "Paper 1.12",
    "[06:20:45] [Chunk I/O Executor Thread-2/WARN]: java.lang.RuntimeException: Server attempted to load chunk saved with newer version of minecraft! 1631 > 1343",
    "1631 > 1343",
  ],
  [
    "corrupt_world",
    "Purpur 1.16",
    `[Paper RegionFile IO Thread/ERROR]: Chunk [-24, -10] header is truncated: expected 0 but read 0
[Paper RegionFile IO Thread/WARN]: Corrupt regionfile header detected! Attempting to re-calculate header offsets for regionfile /home/minecraft/survival/./world/region/r.-1.-1.mca`,
    "/home/minecraft/survival/./world/region/r.-1.-1.mca",
  ],
  [
    "corrupt_world",
    "vanilla's chunk worker",
    "[01:44:38] [chunk IO worker/ERROR]: Chunk [-11, -26] header is truncated: expected 8192 but read 0",
    "[-11, -26]",
  ],
  [
    "tick_stalled",
    "vanilla's watchdog",
    `[10:28:29] [Server Watchdog/FATAL]: A single server tick took 60.00 seconds (should be max 0.05)
[10:28:29] [Server Watchdog/FATAL]: Considering it to be crashed, server will forcibly shutdown.`,
    "60.00 seconds",
  ],
  [
    "tick_stalled",
    "Paper's watchdog",
    `[22:41:28] [Server thread/WARN]: Can't keep up! Is the server overloaded? Running 21109ms or 422 ticks behind
[23:48:24] [Paper Watchdog Thread/ERROR]: The server has stopped responding! This is (probably) not a Paper bug.`,
  ],
  [
    "memory_limit",
    "a JVM that gets no memory",
    `OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory(0x00000000c0000000, 1073741824, 0) failed; error='Out of memory' (errno=12)
#
# There is insufficient memory for the Java Runtime Environment to continue.
# Native memory allocation (mmap) failed to map 1073741824 bytes for committing reserved memory.`,
  ],
  [
    "java_heap",
    "a full heap",
    `[12:00:00] [Server thread/ERROR]: Encountered an unexpected exception
java.lang.OutOfMemoryError: Java heap space
	at java.base/java.util.Arrays.copyOf(Arrays.java:3512)`,
    "Java heap space",
  ],
  [
    "disk_full",
    "a full volume",
    `[12:00:00] [Server thread/ERROR]: Failed to save chunk
java.io.IOException: No space left on device
	at java.base/sun.nio.ch.FileDispatcherImpl.write0(Native Method)`,
  ],
  ["memory_limit", "the kernel", "[12:00:00 INFO]: Done", undefined, { code: 137, reason: "OOMKilled" }],
  ["evicted", "the node", "", undefined, { reason: "Evicted" }],
  ["unresponsive", "the node agent", "[12:00:00 INFO]: Done", undefined, { code: 143, reason: "Error" }],
  ["unresponsive", "a kill", "", undefined, { code: 137, reason: "Error" }],
  ["unknown", "nothing that is known", "[12:00:00 ERROR]: java.lang.NullPointerException: null"],
];

describe("the cause of a crash", () => {
  for (const [cause, what, log, detail, exit = failed] of samples)
    test(`${cause}: ${what}`, () => {
      const expected = detail === undefined ? { cause } : { cause, detail };
      assert.deepEqual(explain(log.split("\n"), exit), expected);
    });

  test("every cause of the contract has a sample, and a row unless it is the one for all others", () => {
    const known = crashes.CrashCause.options;
    // A hang is seen from outside.
    const ended = known.filter((cause) => cause !== "hung");
    assert.deepEqual(new Set(samples.map(([cause]) => cause)), new Set(ended));
    const rows = new Set<string>(causeTable.map(({ cause }) => cause));
    assert.deepEqual(rows, new Set(ended.filter((cause) => cause !== "unknown")));
  });

  test("what players write in chat is no cause", () => {
    const words = samples.flatMap(([, , log]) => log.split("\n").map(textOf));
    for (const said of words.filter((text) => text !== "")) {
      const chat = [
        `[12:00:00] [Async Chat Thread - #0/INFO]: <Notch> ${said}`,
        `[12:00:00 INFO]: Notch: ${said}`,
      ];
      assert.equal(explain(chat, failed).cause, "unknown", said);
    }
  });

  test("the exit counts before the log, and a line that is a cause before one that follows from it", () => {
    const log = ["java.lang.OutOfMemoryError: Java heap space", "A single server tick took 60.00 seconds"];
    assert.equal(explain(log, { code: 137, reason: "OOMKilled" }).cause, "memory_limit");
    assert.equal(explain(log.toReversed(), { code: 137, reason: "Error" }).cause, "java_heap");
  });

  test("a line of any length and shape is read in no time", () => {
    const hostile = ["[", "]", "[".repeat(50_000), "[a] ".repeat(20_000), `- Mod '${"'".repeat(60_000)}`];
    const lines = Array.from({ length: 1_000 }, (_, index) => hostile[index % hostile.length] ?? "");
    assert.equal(explain(lines, failed).cause, "unknown");
  });
});

describe("an end", () => {
  const up = { wasRunning: true, reason: "Completed", code: 0 };
  const table: [what: string, expected: boolean, about: Parameters<typeof isCrash>[1], log: string][] = [
    ["by the server's own stop", false, up, "[12:00:00 INFO]: Stopping server"],
    [
      "after a fault, with exit code 0",
      true,
      up,
      "[12:00:00 ERROR]: This crash report has been saved to: /x",
    ],
    ["before players could join", true, { ...up, wasRunning: false }, ""],
    ["with an exit code", true, { ...up, code: 1, reason: "Error" }, ""],
    ["without a known exit code", true, { wasRunning: true, reason: "Evicted" }, ""],
    [
      "by stop, after somebody wrote of crash reports",
      false,
      up,
      "[12:00:00 INFO]: <a> This crash report has been saved to: /x",
    ],
  ];
  for (const [what, expected, about, log] of table)
    test(`${what} is ${expected ? "a" : "no"} crash`, () => assert.equal(isCrash([log], about), expected));
});
