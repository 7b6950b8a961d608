-- One-time tokens of Jobs that ended long ago.
update image_builds set documents_token_hashes = '{}';
-- Uploads that were under way then: their bytes are no longer staged.
delete from submission_uploads;
