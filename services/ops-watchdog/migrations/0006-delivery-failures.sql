-- Why the newest attempt failed, as a code beside the words in `error`; null of what the release before wrote.
alter table webhook_deliveries add column failure text;
