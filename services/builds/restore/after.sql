-- One-time tokens of Jobs that ended long ago.
update image_builds set documents_token_hash = null;
