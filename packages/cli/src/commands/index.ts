import { alertCommands } from '../alert-commands.ts'
import type { CommandEntry } from '../command-entry.ts'
import { nodeCommands } from '../node-commands.ts'
import { operatorCommands } from '../operator-commands.ts'
import { setupCommands } from '../setup-commands.ts'
import { upstreamCommands } from '../upstream-commands.ts'

/**
 * Every command. Only the one that is used is loaded; name and summary stand here too, so that the help
 * loads none. commands.test.ts holds the two together.
 */
export const commands: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'Start the server and keep it running',
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'status',
    summary: 'Show the status of the running server',
    load: async () => (await import('./status.ts')).status,
  },
  {
    name: 'doctor',
    summary: 'Find what keeps the server from working, and how to fix it',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'mcp',
    summary: 'Connect an MCP client over standard input and output',
    load: async () => (await import('./mcp.ts')).mcp,
  },
  {
    name: 'hook',
    summary: 'Decide whether a coding agent may use one of its own tools',
    load: async () => (await import('./hook.ts')).hook,
  },
  {
    name: 'connect',
    summary: 'Connect a coding agent: create an agent for it and configure it',
    load: async () => (await import('./connect.ts')).connectClient,
  },
  {
    name: 'disconnect',
    summary: 'Disconnect a coding agent: undo its configuration, revoke its agent',
    load: async () => (await import('./disconnect.ts')).disconnectClient,
  },
  {
    name: 'import',
    summary: 'Put the MCP servers that clients have configured behind the gate',
    load: async () => (await import('./import.ts')).importServers,
  },
  {
    name: 'watch',
    summary: 'Show calls and events as they happen',
    load: async () => (await import('./watch.ts')).watch,
  },
  {
    name: 'figures',
    summary: 'Show numbers of calls over time, by agent and by capability',
    load: async () => (await import('./figures.ts')).figures,
  },
  {
    name: 'pause',
    summary: 'Refuse every new call of every agent until you resume them',
    load: async () => (await import('./pause.ts')).pause,
  },
  {
    name: 'resume',
    summary: 'Resume the agents that were paused by pause --all',
    load: async () => (await import('./resume.ts')).resume,
  },
  {
    name: 'agent create',
    summary: 'Create an agent and show its token once',
    load: async () => (await import('./agent-create.ts')).agentCreate,
  },
  {
    name: 'agent list',
    summary: 'List the agents',
    load: async () => (await import('./agent-list.ts')).agentList,
  },
  {
    name: 'agent show',
    summary: 'Show one agent with its sessions and statistics',
    load: async () => (await import('./agent-show.ts')).agentShow,
  },
  {
    name: 'agent edit',
    summary: 'Change an agent; each list replaces the present one',
    load: async () => (await import('./agent-edit.ts')).agentEdit,
  },
  {
    name: 'agent pause',
    summary: 'Refuse all new calls of an agent until it is resumed',
    load: async () => (await import('./agent-pause.ts')).agentPause,
  },
  {
    name: 'agent resume',
    summary: 'Resume a paused agent',
    load: async () => (await import('./agent-resume.ts')).agentResume,
  },
  {
    name: 'agent move',
    summary: 'Bind a paused agent to another node, to which you then copy its workspace',
    load: async () => (await import('./agent-move.ts')).agentMove,
  },
  {
    name: 'agent rotate',
    summary: 'Give an agent a new token and revoke the old one',
    load: async () => (await import('./agent-rotate.ts')).agentRotate,
  },
  {
    name: 'agent revoke',
    summary: 'Revoke an agent: its token, connections and pending requests',
    load: async () => (await import('./agent-revoke.ts')).agentRevoke,
  },
  {
    name: 'agent restore',
    summary: 'Restore a revoked agent with a new token',
    load: async () => (await import('./agent-restore.ts')).agentRestore,
  },
  {
    name: 'approvals list',
    summary: 'List requests that are waiting for a decision',
    load: async () => (await import('./approvals-list.ts')).approvalsList,
  },
  {
    name: 'approvals show',
    summary: 'Show one request: what would run, and which rule asks',
    load: async () => (await import('./approvals-show.ts')).approvalsShow,
  },
  {
    name: 'approvals approve',
    summary: 'Show a request, and approve it',
    load: async () => (await import('./approvals-approve.ts')).approvalsApprove,
  },
  {
    name: 'approvals reject',
    summary: 'Reject a request; the agent is told the reason',
    load: async () => (await import('./approvals-reject.ts')).approvalsReject,
  },
  {
    name: 'approvals watch',
    summary: 'Show requests as they arrive, and decide each with a key',
    load: async () => (await import('./approvals-watch.ts')).approvalsWatch,
  },
  {
    name: 'grants list',
    summary: 'List standing grants: calls that run without asking again',
    load: async () => (await import('./grants-list.ts')).grantsList,
  },
  {
    name: 'grants revoke',
    summary: 'Revoke a standing grant; the next call asks again',
    load: async () => (await import('./grants-revoke.ts')).grantsRevoke,
  },
  {
    name: 'audit query',
    summary: 'Show entries of the audit log, newest first',
    load: async () => (await import('./audit-query.ts')).auditQuery,
  },
  {
    name: 'audit show',
    summary: 'Show one entry of the audit log with its arguments, rule and outcome',
    load: async () => (await import('./audit-show.ts')).auditShow,
  },
  {
    name: 'audit verify',
    summary: 'Verify the audit log by hashing every entry again',
    load: async () => (await import('./audit-verify.ts')).auditVerify,
  },
  {
    name: 'audit acknowledge',
    summary: 'Accept a failed verification once its cause is known, with a reason',
    load: async () => (await import('./audit-acknowledge.ts')).auditAcknowledge,
  },
  {
    name: 'audit reindex',
    summary: 'Rebuild the index of the audit log from its files',
    load: async () => (await import('./audit-reindex.ts')).auditReindex,
  },
  {
    name: 'audit targets',
    summary: 'List the export targets of the audit log and how far each one is',
    load: async () => (await import('./audit-targets.ts')).auditTargets,
  },
  {
    name: 'audit test',
    summary: 'Test an export target of the audit log without sending an entry',
    load: async () => (await import('./audit-test.ts')).auditTest,
  },
  {
    name: 'audit retention',
    summary: 'Show how long audit entries are kept and what delays their removal',
    load: async () => (await import('./audit-retention.ts')).auditRetention,
  },
  {
    name: 'audit prune',
    summary: 'Remove the audit entries that are due, now instead of at the next run',
    load: async () => (await import('./audit-prune.ts')).auditPrune,
  },
  {
    name: 'audit prove',
    summary: 'Print a proof that one entry is in the log',
    load: async () => (await import('./audit-prove.ts')).auditProve,
  },
  {
    name: 'audit check-proof',
    summary: 'Check a proof of one entry, without a server or its data',
    load: async () => (await import('./audit-check-proof.ts')).auditCheckProof,
  },
  {
    name: 'audit export',
    summary: 'Export the audit log, to keep or verify it elsewhere',
    load: async () => (await import('./audit-export.ts')).auditExport,
  },
  {
    name: 'notifications list',
    summary: 'List notification targets and their delivery status',
    load: async () => (await import('./notifications-list.ts')).notificationsList,
  },
  {
    name: 'notifications test',
    summary: 'Send a test message to a target now',
    load: async () => (await import('./notifications-test.ts')).notificationsTest,
  },
  {
    name: 'notifications failed',
    summary: 'List messages to a target that could not be delivered',
    load: async () => (await import('./notifications-failed.ts')).notificationsFailed,
  },
  {
    name: 'notifications retry',
    summary: 'Send undelivered messages to a target again',
    load: async () => (await import('./notifications-retry.ts')).notificationsRetry,
  },
  {
    name: 'backup',
    summary: 'Back up everything to one encrypted file, whether or not the server runs',
    load: async () => (await import('./backup.ts')).backup,
  },
  {
    name: 'restore',
    summary: 'Verify a backup and restore it into a data directory',
    load: async () => (await import('./restore.ts')).restore,
  },
  {
    name: 'policy show',
    summary: 'Show the policy files and the active version',
    load: async () => (await import('./policy-show.ts')).policyShow,
  },
  {
    name: 'policy check',
    summary: 'Check whether the policy files on disk are active',
    load: async () => (await import('./policy-check.ts')).policyCheck,
  },
  {
    name: 'policy validate',
    summary: 'Check a policy file and run its tests, without saving it',
    load: async () => (await import('./policy-validate.ts')).policyValidate,
  },
  {
    name: 'policy test',
    summary: 'Show how policy would decide a call, and by which rule',
    load: async () => (await import('./policy-test.ts')).policyTest,
  },
  {
    name: 'policy simulate',
    summary: 'Show who could do what, by the active policy or by a draft',
    load: async () => (await import('./policy-simulate.ts')).policySimulate,
  },
  {
    name: 'policy replay',
    summary: 'Show what a policy file would decide otherwise of the calls in the audit log',
    load: async () => (await import('./policy-replay.ts')).policyReplay,
  },
  {
    name: 'policy use',
    summary: 'Replace the policy of the organisation or of one agent by a ready one',
    load: async () => (await import('./policy-use.ts')).policyUse,
  },
  {
    name: 'policy set',
    summary: 'Replace the policy of the organisation or of one agent, if it is valid',
    load: async () => (await import('./policy-set.ts')).policySet,
  },
  {
    name: 'state list',
    summary: 'List the state keys of an agent, or the shared ones',
    load: async () => (await import('./state-list.ts')).stateList,
  },
  {
    name: 'state get',
    summary: 'Print the value of a state key as JSON',
    load: async () => (await import('./state-get.ts')).stateGet,
  },
  {
    name: 'state set',
    summary: 'Store a JSON value under a state key',
    load: async () => (await import('./state-set.ts')).stateSet,
  },
  {
    name: 'state delete',
    summary: 'Delete a state key',
    load: async () => (await import('./state-delete.ts')).stateDelete,
  },
  ...alertCommands,
  {
    name: 'processes list',
    summary: 'List the programs that agents run or have run in the background',
    load: async () => (await import('./processes-list.ts')).processesList,
  },
  {
    name: 'processes show',
    summary: 'Show one program of an agent',
    load: async () => (await import('./processes-show.ts')).processesShow,
  },
  {
    name: 'processes logs',
    summary: 'Print the output of a program of an agent, by default the end',
    load: async () => (await import('./processes-logs.ts')).processesLogs,
  },
  {
    name: 'processes kill',
    summary: 'Kill a program of an agent and everything it started',
    load: async () => (await import('./processes-kill.ts')).processesKill,
  },
  {
    name: 'schedules list',
    summary: 'List calls that agents scheduled, newest first',
    load: async () => (await import('./schedules-list.ts')).schedulesList,
  },
  {
    name: 'schedules delete',
    summary: 'Delete a schedule of an agent',
    load: async () => (await import('./schedules-delete.ts')).schedulesDelete,
  },
  ...upstreamCommands,
  ...nodeCommands,
  {
    name: 'models list',
    summary: 'List local models: installed and available ones, and whether they fit in memory',
    load: async () => (await import('./models-list.ts')).modelsList,
  },
  {
    name: 'models show',
    summary: 'Show one model; with --inspect, read its header from the source first',
    load: async () => (await import('./models-show.ts')).modelsShow,
  },
  {
    name: 'models install',
    summary: 'Download, verify and install a model; continues a download that stopped',
    load: async () => (await import('./models-install.ts')).modelsInstall,
  },
  {
    name: 'models cancel',
    summary: 'Cancel the installation of a model; the partial download is kept',
    load: async () => (await import('./models-cancel.ts')).modelsCancel,
  },
  {
    name: 'models remove',
    summary: 'Remove a model, or its partial download',
    load: async () => (await import('./models-remove.ts')).modelsRemove,
  },
  {
    name: 'models verify',
    summary: 'Verify the hash of an installed model; a changed one is disabled',
    load: async () => (await import('./models-verify.ts')).modelsVerify,
  },
  {
    name: 'models default',
    summary: 'Show or set the default model',
    load: async () => (await import('./models-default.ts')).modelsDefault,
  },
  {
    name: 'models catalog',
    summary: 'Show the state of the catalog and the entries it dropped; --refresh fetches it now',
    load: async () => (await import('./models-catalog.ts')).modelsCatalog,
  },
  {
    name: 'models setup',
    summary: 'Install the engine that runs local models, or show what is missing',
    load: async () => (await import('./models-setup.ts')).modelsSetup,
  },
  {
    name: 'models try',
    summary: 'Send a prompt to a local model',
    load: async () => (await import('./models-try.ts')).modelsTry,
  },
  {
    name: 'models engine',
    summary: 'Show the engine of local models: loaded model, memory, requests and crashes',
    load: async () => (await import('./models-engine.ts')).modelsEngine,
  },
  {
    name: 'models start',
    summary: 'Load a model now instead of at the first request',
    load: async () => (await import('./models-start.ts')).modelsStart,
  },
  {
    name: 'models stop',
    summary: 'Stop the engine of local models and free its memory',
    load: async () => (await import('./models-stop.ts')).modelsStop,
  },
  {
    name: 'models release',
    summary: 'Release a model from quarantine',
    load: async () => (await import('./models-release.ts')).modelsRelease,
  },
  {
    name: 'catalog validate',
    summary: 'Check a catalog of models, without a server',
    load: async () => (await import('./catalog-validate.ts')).catalogValidate,
  },
  {
    name: 'wake',
    summary: 'Wake an agent: notify it that there is work',
    load: async () => (await import('./wake.ts')).wake,
  },
  {
    name: 'proxy status',
    summary: 'List connected services: status, last sync and pending writes',
    load: async () => (await import('./proxy-status.ts')).proxyStatus,
  },
  {
    name: 'proxy kinds',
    summary: 'List the kinds of services, with the settings and credentials of each',
    load: async () => (await import('./proxy-kinds.ts')).proxyKinds,
  },
  {
    name: 'proxy connect',
    summary: 'Test and connect a service; credentials are read from the input',
    load: async () => (await import('./proxy-connect.ts')).proxyConnect,
  },
  {
    name: 'proxy test',
    summary: 'Test everything a service needs, and name what fails',
    load: async () => (await import('./proxy-test.ts')).proxyTest,
  },
  {
    name: 'proxy sync',
    summary: 'Sync a service now',
    load: async () => (await import('./proxy-sync.ts')).proxySync,
  },
  {
    name: 'proxy disconnect',
    summary: 'Disconnect a service: cancels its writes, deletes replica, rollback points, secrets',
    load: async () => (await import('./proxy-disconnect.ts')).proxyDisconnect,
  },
  {
    name: 'proxy writes',
    summary: 'List pending writes, or those with another status',
    load: async () => (await import('./proxy-writes.ts')).proxyWrites,
  },
  {
    name: 'proxy cancel',
    summary: 'Cancel a write before it runs',
    load: async () => (await import('./proxy-cancel.ts')).proxyCancel,
  },
  {
    name: 'proxy retry',
    summary: 'Retry a failed write; check first that it did not arrive',
    load: async () => (await import('./proxy-retry.ts')).proxyRetry,
  },
  {
    name: 'proxy discard',
    summary: 'Discard a write that failed',
    load: async () => (await import('./proxy-discard.ts')).proxyDiscard,
  },
  {
    name: 'proxy rollbacks',
    summary: 'List rollback points, newest first',
    load: async () => (await import('./proxy-rollbacks.ts')).proxyRollbacks,
  },
  {
    name: 'proxy rollback',
    summary: 'Undo a write, exactly or not at all',
    load: async () => (await import('./proxy-rollback.ts')).proxyRollback,
  },
  {
    name: 'vault status',
    summary: 'Show whether the vault is locked, and how many secrets it has',
    load: async () => (await import('./vault-status.ts')).vaultStatus,
  },
  {
    name: 'vault list',
    summary: 'List the secrets, with their scopes and last use, never their values',
    load: async () => (await import('./vault-list.ts')).vaultList,
  },
  {
    name: 'vault show',
    summary: 'Show a secret without its value',
    load: async () => (await import('./vault-show.ts')).vaultShow,
  },
  {
    name: 'vault add',
    summary: 'Add a secret; its value is read from the input or a file, never from an argument',
    load: async () => (await import('./vault-add.ts')).vaultAdd,
  },
  {
    name: 'vault rotate',
    summary: 'Give a secret a new value; the old one is erased',
    load: async () => (await import('./vault-rotate.ts')).vaultRotate,
  },
  {
    name: 'vault scope',
    summary: 'Change where a secret may be used; each list replaces the present one',
    load: async () => (await import('./vault-scope.ts')).vaultScope,
  },
  {
    name: 'vault delete',
    summary: 'Delete a secret; calls that name it are refused from then on',
    load: async () => (await import('./vault-delete.ts')).vaultDelete,
  },
  {
    name: 'vault check',
    summary: 'Check whether an agent may use a secret with a capability at a host',
    load: async () => (await import('./vault-check.ts')).vaultCheck,
  },
  {
    name: 'vault lock',
    summary: 'Lock the vault of the running server; calls that need a secret are refused',
    load: async () => (await import('./vault-lock.ts')).vaultLock,
  },
  {
    name: 'vault unlock',
    summary: 'Unlock the vault of the running server with its passphrase or key file',
    load: async () => (await import('./vault-unlock.ts')).vaultUnlock,
  },
  {
    name: 'vault passphrase',
    summary: 'Set, change or remove the passphrase of the vault',
    load: async () => (await import('./vault-passphrase.ts')).vaultPassphrase,
  },
  {
    name: 'vault rotate-key',
    summary: 'Create a new master key and encrypt every secret with it',
    load: async () => (await import('./vault-rotate-key.ts')).vaultRotateKey,
  },
  {
    name: 'user-token create',
    summary: 'Create a token for a person or a program and show it once',
    load: async () => (await import('./user-token-create.ts')).userTokenCreate,
  },
  {
    name: 'user-token list',
    summary: 'List the user tokens, without the tokens themselves',
    load: async () => (await import('./user-token-list.ts')).userTokenList,
  },
  {
    name: 'user-token revoke',
    summary: 'Revoke a user token',
    load: async () => (await import('./user-token-revoke.ts')).userTokenRevoke,
  },
  {
    name: 'config explain',
    summary: 'Show the active settings and where each value comes from',
    load: async () => (await import('./config-explain.ts')).configExplain,
  },
  ...setupCommands,
  ...operatorCommands,
  {
    name: 'trust',
    summary: 'Make this machine trust the certificate of the dashboard, or stop trusting it',
    load: async () => (await import('./trust.ts')).trust,
  },
  {
    name: 'tls fingerprint',
    summary: "Show the fingerprints of the dashboard's certificate",
    load: async () => (await import('./tls-fingerprint.ts')).tlsFingerprint,
  },
  {
    name: 'completion',
    summary: 'Print or install shell completion for commands, agents and approvals',
    load: async () => (await import('./completion.ts')).completion,
  },
  {
    name: 'selftest',
    summary: "Test Gatehouse's guarantees on this machine, in temporary folders",
    load: async () => (await import('./selftest.ts')).selftest,
  },
  {
    name: 'version',
    summary: 'Show the version of Gatehouse',
    load: async () => (await import('./version.ts')).version,
  },
  {
    name: '__complete',
    summary: 'Words that may follow, for the completion of shells',
    load: async () => (await import('./complete.ts')).complete,
  },
]
