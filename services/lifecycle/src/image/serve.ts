import type { Mesh } from "@svc/mesh";
import { imageChoices as contracts, versionLabel } from "@svc/proto";
import { type ChoiceDeps, chooseImage } from "./choose.ts";
import { imagesByProtocol } from "./suggest.ts";

export function serveImageChoices(mesh: Pick<Mesh, "serve">, deps: ChoiceDeps): void {
  mesh.serve(contracts.reportVersions, async (_context, { players }) => {
    await deps.versions.record(players);
    return null;
  });
  mesh.serve(contracts.suggestImage, async (context) => {
    const { imageRef, choice, counts, images } = await chooseImage(deps, context);
    const byProtocol = imagesByProtocol(images, deps.settings.default_image);
    return {
      ...choice,
      image_ref: imageRef,
      versions: [...counts]
        .sort((a, b) => b.players - a.players || b.protocol - a.protocol)
        .map(({ protocol, players }) => {
          const [version, image_ref] = [versionLabel(protocol), byProtocol.get(protocol)];
          return {
            ...{ protocol, players },
            ...(version !== undefined && { version }),
            ...(image_ref !== undefined && { image_ref }),
          };
        }),
    };
  });
}
