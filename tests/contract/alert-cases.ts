// Series on which each shipped alert fires, as promtool writes them:
// `0+60x10` is 0, 60, 120 and so on, one value for each minute since 1970, or for each hour when it fires after hours.

import { components, running } from "./alert-healthy.ts";

export type AlertCase = {
  alert: string;
  series: Readonly<Record<string, string>>;
  /** When it must fire. */
  at: string;
  /** Labels of the alert besides its severity. */
  labels?: Readonly<Record<string, string>>;
};

const process = '{job="svc",instance="a:1"}';
const identityInfo = { 'svc_build_info{job="svc",instance="a:1",component="identity",version="1"}': "1x60" };

const accounts: AlertCase[] = [
  {
    alert: "MailBudgetExhausted",
    series: { 'svc_mail_total{kind="code",result="throttled"}': "0x5 1x10" },
    at: "12m",
  },
  {
    alert: "MailDeliveryFailing",
    series: { 'svc_mail_total{kind="code",result="failed"}': "0x5 1x10" },
    at: "12m",
  },
  { alert: "SignInFlood", series: { 'svc_rate_limited_total{scope="auth_door"}': "0+12x30" }, at: "20m" },
  {
    alert: "OTPAccountLocked",
    series: { 'svc_auth_otp_lockouts_total{purpose="sign_in"}': "0x5 1x10" },
    at: "8m",
  },
  {
    alert: "SignInFailures",
    series: { 'svc_auth_failures_total{door="passkey",reason="no_account"}': "0+4x30" },
    at: "20m",
  },
  { alert: "AuditWriteFailing", series: { svc_audit_write_failures_total: "0x5 1x10" }, at: "12m" },
  {
    alert: "SessionSourcesFailing",
    series: { 'svc_session_source_total{source="mojang",outcome="failed"}': "0+4x30" },
    at: "20m",
    labels: { source: "mojang" },
  },
];

const servers: AlertCase[] = [
  {
    alert: "SlowServerStarts",
    series: {
      'svc_start_duration_seconds_bucket{le="300"}': "0x60",
      'svc_start_duration_seconds_bucket{le="600"}': "0+1x60",
      'svc_start_duration_seconds_bucket{le="+Inf"}': "0+1x60",
    },
    at: "40m",
  },
  {
    alert: "ServerFailed",
    series: { 'svc_server_phase{server="survival",role="",phase="Failed",desired="Running"}': "1x20" },
    at: "12m",
    labels: { server: "survival" },
  },
  {
    alert: "SystemServerDown",
    series: { 'svc_server_phase{server="lobby",role="lobby",phase="Starting",desired="Running"}': "1x20" },
    at: "6m",
    labels: { server: "lobby" },
  },
  { alert: "ReconcileErrors", series: { 'svc_reconciles_total{result="failed"}': "0+2x30" }, at: "20m" },
  { alert: "ReconcileStuck", series: { svc_reconcile_oldest_pass_seconds: "0+60x10" }, at: "6m" },
  { alert: "ReconcileBacklog", series: { svc_reconcile_queue_depth: "500x20" }, at: "12m" },
  { alert: "OperatorDown", series: { svc_operator_leading: "0x20" }, at: "4m" },
  {
    alert: "SchedulesNotRunning",
    series: { 'svc_schedule_tick_duration_seconds_count{result="failed"}': "0+2x30" },
    at: "20m",
  },
  {
    alert: "HistoryHasGaps",
    series: { 'svc_history_samples_total{part="usage",result="failed"}': "0+1x60" },
    at: "50m",
    labels: { part: "usage" },
  },
];

const worlds: AlertCase[] = [
  {
    alert: "WorldJobFailed",
    series: { 'svc_backup_duration_seconds_count{kind="restore",result="failed"}': "0x5 1x10" },
    at: "8m",
    labels: { kind: "restore" },
  },
  {
    alert: "BackupCorrupt",
    series: { 'svc_backups_total{event="condemned",reason="manual"}': "_x5 1x10" },
    at: "8m",
  },
  { alert: "ScheduledBackupsPaused", series: { svc_scheduled_backups_paused: "1x70" }, at: "65m" },
  {
    alert: "ScheduledBackupsDelayed",
    series: { svc_scheduled_backups_slot_seconds: "4000+60x20" },
    at: "10m",
  },
  {
    alert: "WorldJobsNotSettled",
    series: { 'svc_storage_settle_duration_seconds_count{result="done"}': "5x30" },
    at: "20m",
  },
  { alert: "ReaperStale", series: { svc_reaper_last_success_timestamp_seconds: "60x40" }, at: "29h" },
  {
    alert: "ReaperNeverSucceeded",
    series: { svc_reaper_last_success_timestamp_seconds: "0x40" },
    at: "29h",
  },
];

const packs: AlertCase[] = [
  { alert: "ImageBuildFailures", series: { svc_image_build_failures_total: "0x5 1x20" }, at: "12m" },
  {
    alert: "BuildsWait",
    series: { 'svc_image_builds{status="pending"}': "1x20", 'svc_image_builds{status="building"}': "0x20" },
    at: "12m",
  },
  { alert: "SubmissionsWait", series: { svc_submission_oldest_wait_seconds: "300000+60x70" }, at: "65m" },
  { alert: "SubmissionMailsWait", series: { svc_submission_notices_waiting: "2x70" }, at: "65m" },
  {
    alert: "RegistryUnreachable",
    series: { 'svc_registry_gate_forwarded_total{right="read",outcome="unreachable"}': "_x5 1x10" },
    at: "9m",
  },
  { alert: "RegistryReadOnly", series: { svc_registry_gate_read_only: "1x130" }, at: "125m" },
];

const upkeep: AlertCase[] = [
  { alert: "DBBackupStale", series: { svc_db_backup_last_success_timestamp_seconds: "0x40" }, at: "29h" },
  { alert: "DBBackupMetricMissing", series: {}, at: "125m" },
  { alert: "DBBackupDamaged", series: { svc_db_backup_damaged_bundles: "1x20" }, at: "12m" },
  {
    alert: "DBRehearsalStale",
    series: { svc_db_rehearsal_last_success_timestamp_seconds: "60x230" },
    at: "220h",
  },
  {
    alert: "DBRehearsalMissing",
    series: { svc_db_rehearsal_last_success_timestamp_seconds: "0x40" },
    at: "29h",
  },
  { alert: "OffsiteStale", series: { svc_offsite_last_success_timestamp_seconds: "60x40" }, at: "14h" },
  {
    alert: "OffsiteNeverCompleted",
    series: {
      svc_offsite_last_success_timestamp_seconds: "0x40",
      svc_offsite_last_pass_timestamp_seconds: "60x40",
    },
    at: "14h",
  },
  { alert: "OffsiteWalStale", series: { svc_offsite_wal_timestamp_seconds: "60x40" }, at: "3h" },
  { alert: "WalArchiveStale", series: { svc_wal_received_timestamp_seconds: "60x40" }, at: "2h" },
  { alert: "OffsiteWrongKey", series: { 'svc_offsite_pass_state{state="wrong_key"}': "1x20" }, at: "3m" },
  { alert: "OffsiteStandby", series: { 'svc_offsite_pass_state{state="standby"}': "1x40" }, at: "4h" },
  {
    alert: "OffsiteCopiesMissing",
    series: {
      'svc_offsite_missing_objects{kind="worlds"}': "1x40",
      'svc_offsite_not_whole_objects{kind="worlds"}': "0x40",
    },
    at: "4h",
    labels: { kind: "worlds" },
  },
  { alert: "OffsiteCopyDamaged", series: { svc_offsite_damaged_objects: "1x20" }, at: "12m" },
  { alert: "UpdateReportStale", series: { svc_update_report_timestamp_seconds: "60x80" }, at: "76h" },
  {
    alert: "WatchdogTaskFailing",
    series: { 'svc_watchdog_task_failures_total{task="daily-bundle"}': "0x5 1x5 2x5 3x5 4x20" },
    at: "30m",
    labels: { task: "daily-bundle" },
  },
];

const watchdog: AlertCase[] = [
  { alert: "WatchdogStale", series: { svc_watchdog_last_run_timestamp_seconds: "60x40" }, at: "20m" },
  { alert: "WatchdogNotHeard", series: { svc_watchdog_failing_deliveries: "1x20" }, at: "18m" },
];

const platform: AlertCase[] = [
  {
    alert: "APIDown",
    series: { [running("gateway-external")]: "1x10" },
    at: "4m",
    labels: { component: "gateway-internal" },
  },
  {
    alert: "ServiceDown",
    series: Object.fromEntries(
      components.filter((name) => name !== "storage").map((name) => [running(name), "1x10"]),
    ),
    at: "4m",
    labels: { component: "storage" },
  },
  { alert: "ProxyDown", series: {}, at: "4m", labels: { component: "proxy" } },
  { alert: "LoginGateDown", series: {}, at: "7m", labels: { component: "login-gate" } },
  {
    alert: "ProcessRestarts",
    series: { ...identityInfo, [`process_start_time_seconds${process}`]: "0+1x60" },
    at: "10m",
    labels: { component: "identity", instance: "a:1" },
  },
  {
    alert: "EventLoopBusy",
    series: { ...identityInfo, [`nodejs_eventloop_utilization_ratio${process}`]: "0.99x60" },
    at: "35m",
    labels: { component: "identity", instance: "a:1" },
  },
  {
    alert: "RequestsFail",
    series: {
      'svc_http_requests_total{face="external",method="GET",route="/a",code="503"}': "0+10x30",
      'svc_http_requests_total{face="external",method="GET",route="/a",code="200"}': "0+90x30",
    },
    at: "20m",
    labels: { face: "external" },
  },
  {
    alert: "RequestsSlow",
    series: {
      'svc_http_request_duration_seconds_bucket{face="external",route="/a",le="2.5"}': "0+9x60",
      'svc_http_request_duration_seconds_bucket{face="external",route="/a",le="5"}': "0+10x60",
      'svc_http_request_duration_seconds_bucket{face="external",route="/a",le="+Inf"}': "0+10x60",
    },
    at: "30m",
    labels: { face: "external" },
  },
  {
    alert: "MessagesGivenUp",
    series: { 'svc_mesh_dead_letters_total{durable="identity-audit"}': "0x5 1x10" },
    at: "8m",
    labels: { durable: "identity-audit" },
  },
  {
    alert: "MeshUnstable",
    series: { ...identityInfo, [`svc_mesh_reconnects${process}`]: "0+1x40" },
    at: "25m",
    labels: { component: "identity", instance: "a:1" },
  },
  {
    alert: "DatabasePoolExhausted",
    series: { ...identityInfo, [`svc_database_waiting${process}`]: "3x60" },
    at: "15m",
    labels: { component: "identity", instance: "a:1" },
  },
  {
    alert: "EventsNotPublished",
    series: { ...identityInfo, [`svc_outbox_waiting${process}`]: "500x60" },
    at: "15m",
    labels: { component: "identity", instance: "a:1" },
  },
  {
    alert: "RequestsRefused",
    series: { 'svc_mesh_refused_requests_total{subject="svc.rpc.identity.user.read"}': "_x5 1x10" },
    at: "8m",
    labels: { subject: "svc.rpc.identity.user.read" },
  },
  {
    alert: "ForeignMessages",
    series: { 'svc_mesh_foreign_messages_total{stream="STORAGE"}': "_x5 1x10" },
    at: "8m",
    labels: { stream: "STORAGE" },
  },
];

const players: AlertCase[] = [
  {
    alert: "ProxyCallsFail",
    series: {
      'svc_proxy_call_duration_seconds_count{operation="wake",outcome="no_answer"}': "0+1x30",
      'svc_proxy_call_duration_seconds_count{operation="wake",outcome="2xx"}': "0+5x30",
    },
    at: "15m",
  },
  {
    alert: "PlayersWaitLong",
    series: { svc_proxy_waiting: "2x30", svc_start_duration_seconds_count: "4x30" },
    at: "15m",
  },
  {
    alert: "LoginGateCallsFail",
    series: { 'svc_login_gate_calls_failed_total{call="status"}': "0+3x30" },
    at: "20m",
  },
];

const sftp: AlertCase[] = [
  {
    alert: "SFTPDown",
    series: { [running("sftp")]: "1x5 stale _x30" },
    at: "15m",
    labels: { component: "sftp" },
  },
  { alert: "SFTPSignInsFail", series: { 'svc_sftp_sign_ins_total{outcome="failed"}': "0+1x30" }, at: "15m" },
  {
    alert: "SFTPKeysTried",
    series: {
      'svc_sftp_sign_ins_total{outcome="refused"}': "0+6x30",
      'svc_sftp_sign_ins_total{outcome="limited"}': "0+6x30",
    },
    at: "20m",
  },
  {
    alert: "SFTPRequestsFail",
    series: {
      'svc_sftp_operations_total{operation="read",outcome="ok"}': "0+20x30",
      'svc_sftp_operations_total{operation="close",outcome="failed"}': "0+2x30",
    },
    at: "20m",
  },
  {
    alert: "SFTPSpoolFull",
    series: {
      'svc_sftp_spool_bytes{instance="sftp:1"}': "95x30",
      'svc_sftp_spool_limit_bytes{instance="sftp:1"}': "100x30",
    },
    at: "12m",
    labels: { instance: "sftp:1" },
  },
];

const machines: AlertCase[] = [
  {
    alert: "NodeDiskSpaceLow",
    series: {
      'node_filesystem_avail_bytes{instance="n:9100",mountpoint="/data",fstype="ext4",device="a"}': "10x30",
      'node_filesystem_size_bytes{instance="n:9100",mountpoint="/data",fstype="ext4",device="a"}': "100x30",
    },
    at: "20m",
    labels: { instance: "n:9100", mountpoint: "/data" },
  },
  {
    alert: "NodeDiskPressure",
    series: { 'kube_node_status_condition{node="n",condition="DiskPressure",status="true"}': "1x30" },
    at: "8m",
    labels: { node: "n" },
  },
  {
    alert: "NodeMemoryLow",
    series: {
      'node_memory_MemAvailable_bytes{instance="n:9100"}': "5x30",
      'node_memory_MemTotal_bytes{instance="n:9100"}': "100x30",
    },
    at: "20m",
    labels: { instance: "n:9100" },
  },
];

export const cases: readonly AlertCase[] = [
  ...accounts,
  ...servers,
  ...worlds,
  ...packs,
  ...upkeep,
  ...watchdog,
  ...platform,
  ...players,
  ...sftp,
  ...machines,
];
