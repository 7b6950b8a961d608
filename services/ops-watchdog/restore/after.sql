-- What waited then is no news; a webhook that was deleted since, or whose address was changed, must not get anything.
delete from webhook_deliveries where state = 'waiting';
update webhooks set enabled = false, off_reason = 'restored', notice_due_at = null where enabled;
