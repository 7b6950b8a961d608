/** Short intervals for tests that wait for real events. */
export const fastSettings = [
  "lifecycle.stop_notice=100ms",
  "lifecycle.probe_retry=50ms",
  "lifecycle.count_interval=150ms",
  "lifecycle.arrival_window=50ms",
  "lifecycle.password_ttl=100ms",
  "lifecycle.reconcile_starting=40ms",
  "lifecycle.reconcile_stopping=40ms",
  "lifecycle.reconcile_secret=60ms",
  "lifecycle.reconcile_maintenance=60ms",
  "lifecycle.reconcile_failed=500ms",
  "lifecycle.reconcile_node=60ms",
  "lifecycle.startup_timeout=500ms",
  "lifecycle.auto_restart_backoff=100ms",
  "lifecycle.maintenance_lock=1s",
  "lifecycle.lease_duration=2s",
  "lifecycle.lease_renew=250ms",
];
