import type { OperationId } from './operations.ts'

/** Fields that every answer of an operation has. A test holds this against the server's table. */
const fields: Readonly<Record<OperationId, string>> = {
  getStatus:
    'version uptime_seconds active_agents active_sessions pending_approvals capabilities_invoked_24h policy_violations_24h health',
  getHealth: 'status reasons components resources',
  isAlive: 'status',
  isReady: 'status',
  getMetrics: '',
  probeSandbox: 'usable rung detail remedy',
  listAgents: 'agents',
  createAgent: 'agent token',
  showAgent:
    'name purpose status created_at last_connected total_invocations approvals workspace mounts token_fingerprint sessions stats',
  pauseAgent:
    'name purpose status created_at last_connected total_invocations approvals workspace mounts token_fingerprint',
  resumeAgent:
    'name purpose status created_at last_connected total_invocations approvals workspace mounts token_fingerprint',
  rotateAgent: 'agent token',
  revokeAgent:
    'name purpose status created_at last_connected total_invocations approvals workspace mounts token_fingerprint',
  restoreAgent: 'agent token',
  pauseAll: 'agents count',
  resumeAll: 'agents count',
  listActivity: 'events total limit offset',
  streamActivity: '',
  listApprovals: 'approvals total',
  streamApprovals: '',
  showApproval:
    'id agent capability arguments effective_arguments digest requested_at expires_at status stale session_id reason rule critical preview decided_at decided_by decision_reason execution',
  decideApprovals: 'outcomes',
  approveApproval:
    'id agent capability arguments effective_arguments digest requested_at expires_at status stale session_id reason rule critical preview decided_at decided_by decision_reason execution',
  rejectApproval:
    'id agent capability arguments effective_arguments digest requested_at expires_at status stale session_id reason rule critical preview decided_at decided_by decision_reason execution',
  listGrants: 'grants total',
  revokeGrant:
    'id agent capability match arguments approval_id status created_at created_by expires_at uses used last_used_at revoked_at revoked_by',
  listAlerts: 'alerts total',
  acknowledgeAlert:
    'id source kind severity message context status created_at last_raised_at count acknowledged_at acknowledged_by',
  listState: 'agent keys',
  showState: 'agent key version updated_at',
  setState: 'agent key version updated_at',
  deleteState: 'agent key deleted',
  listProcesses: 'processes total',
  showProcess:
    'process_id agent command args working_directory background state exit_code signal sandbox network started_at ended_at stdout_bytes stderr_bytes cpu_ms memory_bytes_max detail',
  readProcessLog:
    'process_id stream state content offset next_offset total_bytes lost_bytes truncated',
  killProcess: 'process_id state signal_sent',
  listSchedules: 'schedules total',
  deleteSchedule:
    'schedule_id agent capability arguments schedule time_zone description status next_run_at created_at',
  queryAudit: 'entries total integrity verified_through verified_at',
  exportAudit: '',
  showAuditEntry:
    'id timestamp kind agent capability arguments result policy_decision actor session_id request_id rule duration_ms approval_id intent_id error detail chain seq hash',
  proveAuditEntry: 'format body seq size leaf root proof checkpoint public_key',
  verifyAudit: 'integrity verified_through verified_at',
  acknowledgeAudit: 'integrity verified_through verified_at',
  reindexAudit: 'integrity verified_through verified_at',
  makeBackup: '',
  showEngine:
    'status package setup model sandbox pid context_tokens memory_bytes tokens_per_second started_at active waiting requests crashes last_failure again_at quarantined measures',
  setUpEngine: 'status packages_done packages_total error started_at finished_at',
  startEngine:
    'status package setup model sandbox pid context_tokens memory_bytes tokens_per_second started_at active waiting requests crashes last_failure again_at quarantined measures',
  stopEngine:
    'status package setup model sandbox pid context_tokens memory_bytes tokens_per_second started_at active waiting requests crashes last_failure again_at quarantined measures',
  releaseModel: 'id released',
  tryModel: 'model text finish_reason usage duration_ms',
  listModels: 'models default_model catalog',
  refreshCatalog: 'status url fetched_at checked_at reason dropped',
  setDefaultModel: 'default_model',
  showModel:
    'id url sha256 size_bytes source installed default listed installed_at verified_at update_available problem header fit partial_bytes job',
  inspectModel:
    'id url sha256 size_bytes source installed default listed installed_at verified_at update_available problem header fit partial_bytes job',
  installModel:
    'id model_id status phase downloaded_bytes total_bytes percent bytes_per_second eta_seconds attempts next_attempt_at error fit created_at finished_at',
  cancelInstall:
    'id model_id status phase downloaded_bytes total_bytes percent bytes_per_second eta_seconds attempts next_attempt_at error fit created_at finished_at',
  verifyModel: 'id verified expected_sha256 found_sha256 size_bytes verified_at detail',
  removeModel: 'id removed freed_bytes',
  showJob:
    'id model_id status phase downloaded_bytes total_bytes percent bytes_per_second eta_seconds attempts next_attempt_at error fit created_at finished_at',
  listNotifications: 'targets',
  listFailedNotifications: 'failed',
  testNotification: 'name delivered status detail',
  retryNotifications: 'name retried',
  listUserTokens: 'user_tokens',
  createUserToken: 'id label role token',
  revokeUserToken: 'id label role created_at last_used_at revoked_at',
  showVault: 'locked mode secrets reason remedy',
  lockVault: 'locked mode secrets reason remedy',
  unlockVault: 'locked mode secrets reason remedy',
  setVaultPassphrase: 'locked mode secrets reason remedy',
  rotateVaultKey: 'secrets',
  listSecrets: 'secrets',
  addSecret:
    'capabilities hosts agents name kind description version created_at rotated_at scope_changed_at uses last_use rotation_request',
  showSecret:
    'capabilities hosts agents name kind description version created_at rotated_at scope_changed_at uses last_use rotation_request',
  changeSecret:
    'capabilities hosts agents name kind description version created_at rotated_at scope_changed_at uses last_use rotation_request',
  rotateSecret:
    'capabilities hosts agents name kind description version created_at rotated_at scope_changed_at uses last_use rotation_request',
  deleteSecret: 'name deleted',
  checkSecret: 'name agent capability host allowed reason',
  showSession: 'name role via expires_at',
  logIn: 'name role via expires_at',
  logOut: 'logged_out',
  showSetup: 'needed',
  setUp: 'name role via expires_at',
  createSetupLink: 'token expires_at',
  listOperators: 'operators',
  setPassword: 'name role created_at password_changed_at created',
  removeOperator: 'name role created_at password_changed_at',
  showPolicies: 'version files problems rules tests_passed',
  validatePolicy: 'valid problems rules tests_passed',
  testPolicy: 'decision steps',
  saveOrganisationPolicy: 'version problems',
  saveAgentPolicy: 'version problems',
  showProxy: 'services',
  listServiceKinds: 'kinds',
  connectService: 'service checks',
  testService: 'ok checks',
  syncService:
    'name status last_sync replica_entries buffered_writes rollback_points kind reason failing_since next_sync progress dead_letters agents settings connected_at',
  disconnectService:
    'name status last_sync replica_entries buffered_writes rollback_points kind reason failing_since next_sync progress dead_letters agents settings connected_at',
  listWrites: 'writes total',
  cancelWrite:
    'id service operation agent arguments buffered_at execute_at status files attempts finished_at result error dead_letter ended_by rollback_id rollback_status undo_until undo_note',
  retryWrite:
    'id service operation agent arguments buffered_at execute_at status files attempts finished_at result error dead_letter ended_by rollback_id rollback_status undo_until undo_note',
  discardWrite:
    'id service operation agent arguments buffered_at execute_at status files attempts finished_at result error dead_letter ended_by rollback_id rollback_status undo_until undo_note',
  listRollbacks: 'rollbacks total',
  previewRollback: 'rollback possible steps reason differences',
  rollBack:
    'id write_id service operation agent status created_at expires_at error differences rolled_back_at rolled_back_by',
  getOpenApi: '',
}

export const requiredFields = (operation: OperationId): readonly string[] =>
  fields[operation].split(' ').filter((name) => name !== '')
