/** Which field of the form a fault is about. */
export const fieldOfFault: Readonly<Record<string, string>> = {
  bad_name: "name",
  name_taken: "name",
  world_volume_exists: "name",
  bad_subdomain: "subdomain",
  subdomain_taken: "subdomain",
  bad_display_name: "displayName",
  image_not_whitelisted: "image",
  image_not_in_registry: "image",
  image_without_provenance: "image",
};
