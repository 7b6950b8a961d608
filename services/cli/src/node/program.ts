import type { Command } from "commander";
import { type Common, command, group, list, runs, yes } from "../program.ts";
import type { ApproveOptions } from "./approval/approve.ts";
import type { DrainOptions, ListOptions } from "./commands.ts";
import type { RelabelOptions } from "./relabel/relabel.ts";

const load = () => import("./commands.ts");
const loadApproval = () => import("./approval/approve.ts");

export function addNodeCommands(program: Command): void {
  const node = group(program, "node", "nodes of the cluster: approval, free capacity, draining");
  command(node, "list", {
    does: "every node with the memory that its servers may take",
    example: "node list --memory 8Gi",
  })
    .option("--memory <size>", "say which nodes have room for a server of this size, such as 8Gi")
    .action(runs(async (options: ListOptions) => (await load()).list(options)));
  command(node, "cordon <node>", {
    does: "keep new and moved servers off a node; what runs there goes on",
    example: "node cordon node-2",
  }).action(runs(async (options: Common, name) => (await load()).cordon(name ?? "", options)));
  command(node, "uncordon <node>", {
    does: "let a node take servers again",
    example: "node uncordon node-2",
  }).action(runs(async (options: Common, name) => (await load()).uncordon(name ?? "", options)));
  command(node, "drain <node>", {
    does: "cordon a node and move its servers to others, one after another; players are told before theirs stops, and what was awake wakes again. Repeat it when it was interrupted",
    example: "node drain node-2 --yes",
  })
    .option("--to <node>", "move all of them to this node")
    .option("--leave-asleep", "do not wake what was awake")
    .addOption(yes())
    .action(runs(async (options: DrainOptions, name) => (await load()).drain(name ?? "", options)));
  command(node, "join", {
    does: "how another machine joins the cluster as a worker",
    example: "node join",
  }).action(runs(async () => (await loadApproval()).join()));
  command(node, "relabel", {
    does: "before an upgrade from a release whose labels any kubelet could change: copy those of every node to protected ones. It may be repeated",
    example: "node relabel --yes",
  })
    .option("--kubeconfig <file>", "the kubeconfig of the cluster, if it is not kubectl's own")
    .addOption(yes())
    .action(runs(async (options: RelabelOptions) => (await import("./relabel/relabel.ts")).relabel(options)));
  command(node, "approve <node>", {
    does: "probe a node that has joined, and let it take servers when all is well; a node that fails keeps its taint. Repeat it when it was interrupted",
    example: "node approve node-2 --ssh root@node-2 --yes",
  })
    .option("--kubeconfig <file>", "the kubeconfig of the cluster, if it is not kubectl's own")
    .option("--values <file>", "values of the installation, if they are not the defaults")
    .option(
      "--image <image>",
      "image of the registry to pull, with node in it; that of the services by default",
    )
    .option("--reference <node>", "the node to compare with; the node of the control plane by default")
    .option("--confirm <names>", "what you checked yourself: encryption, host-firewall, kubelet-rights", list)
    .option(
      "--ssh <address>",
      "look at the machine too, as root or with sudo, through [user@]host[:port]; its host key must be known",
    )
    .option("--ssh-known-hosts <file>", "its host key, if it is not in ssh's own files")
    .addOption(yes())
    .action(
      runs(async (options: ApproveOptions, name) => (await loadApproval()).approve(name ?? "", options)),
    );
}
