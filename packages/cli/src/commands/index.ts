import type { Command } from '../define.ts'

export type CommandEntry = {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Command>
}

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
    summary: 'Show what the running server does',
    load: async () => (await import('./status.ts')).status,
  },
  {
    name: 'doctor',
    summary: 'Look for what keeps the server from working, and name the fix',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'watch',
    summary: 'Show what happens, as it happens',
    load: async () => (await import('./watch.ts')).watch,
  },
  {
    name: 'pause',
    summary: 'Refuse every new call of every agent, now',
    load: async () => (await import('./pause.ts')).pause,
  },
  {
    name: 'resume',
    summary: 'Resume the agents that pausing everything paused',
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
    summary: 'Show one agent with its sessions and numbers',
    load: async () => (await import('./agent-show.ts')).agentShow,
  },
  {
    name: 'agent pause',
    summary: 'Refuse every new call of an agent until it is resumed',
    load: async () => (await import('./agent-pause.ts')).agentPause,
  },
  {
    name: 'agent resume',
    summary: 'Accept the calls of a paused agent again',
    load: async () => (await import('./agent-resume.ts')).agentResume,
  },
  {
    name: 'agent rotate',
    summary: 'Give an agent a new token and end the old one',
    load: async () => (await import('./agent-rotate.ts')).agentRotate,
  },
  {
    name: 'agent revoke',
    summary: 'End an agent: its token, its connections and what it asked for',
    load: async () => (await import('./agent-revoke.ts')).agentRevoke,
  },
  {
    name: 'agent restore',
    summary: 'Bring a revoked agent back with a new token',
    load: async () => (await import('./agent-restore.ts')).agentRestore,
  },
  {
    name: 'approvals list',
    summary: 'List requests that wait for a decision',
    load: async () => (await import('./approvals-list.ts')).approvalsList,
  },
  {
    name: 'approvals show',
    summary: 'Show one request whole: what would run, and why it asks',
    load: async () => (await import('./approvals-show.ts')).approvalsShow,
  },
  {
    name: 'approvals approve',
    summary: 'Show what will run, and let it run',
    load: async () => (await import('./approvals-approve.ts')).approvalsApprove,
  },
  {
    name: 'approvals reject',
    summary: 'Refuse a request; the agent reads the reason',
    load: async () => (await import('./approvals-reject.ts')).approvalsReject,
  },
  {
    name: 'approvals watch',
    summary: 'Show requests as they come, and decide them by a key',
    load: async () => (await import('./approvals-watch.ts')).approvalsWatch,
  },
  {
    name: 'grants list',
    summary: 'List what runs without asking again',
    load: async () => (await import('./grants-list.ts')).grantsList,
  },
  {
    name: 'grants revoke',
    summary: 'End a standing grant; the next call asks again',
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
    summary: 'Hash the whole log again and say whether it is as it was written',
    load: async () => (await import('./audit-verify.ts')).auditVerify,
  },
  {
    name: 'audit acknowledge',
    summary:
      'Accept a failed verification once its cause is known; an entry says who did so and why',
    load: async () => (await import('./audit-acknowledge.ts')).auditAcknowledge,
  },
  {
    name: 'audit prove',
    summary: 'Print what it takes to check one entry without the log',
    load: async () => (await import('./audit-prove.ts')).auditProve,
  },
  {
    name: 'audit check-proof',
    summary: 'Check the proof of one entry, without a server or its data',
    load: async () => (await import('./audit-check-proof.ts')).auditCheckProof,
  },
  {
    name: 'audit export',
    summary: 'Write the whole log out, to keep or verify elsewhere',
    load: async () => (await import('./audit-export.ts')).auditExport,
  },
  {
    name: 'notifications list',
    summary: 'Show who is told outside of the dashboard, and how that goes',
    load: async () => (await import('./notifications-list.ts')).notificationsList,
  },
  {
    name: 'notifications test',
    summary: 'Send a message to a target now',
    load: async () => (await import('./notifications-test.ts')).notificationsTest,
  },
  {
    name: 'notifications failed',
    summary: 'List the messages to a target that were given up',
    load: async () => (await import('./notifications-failed.ts')).notificationsFailed,
  },
  {
    name: 'notifications retry',
    summary: 'Try again what was given up',
    load: async () => (await import('./notifications-retry.ts')).notificationsRetry,
  },
  {
    name: 'backup',
    summary: 'Write one encrypted file with everything, while the server runs or not',
    load: async () => (await import('./backup.ts')).backup,
  },
  {
    name: 'restore',
    summary: 'Verify a backup and make a data directory of it',
    load: async () => (await import('./restore.ts')).restore,
  },
  {
    name: 'policy show',
    summary: 'Show the policy files and the version in force',
    load: async () => (await import('./policy-show.ts')).policyShow,
  },
  {
    name: 'policy check',
    summary: 'Say whether the policy files as they stand are in force',
    load: async () => (await import('./policy-check.ts')).policyCheck,
  },
  {
    name: 'policy validate',
    summary: 'Check a policy file and run its tests, without saving it',
    load: async () => (await import('./policy-validate.ts')).policyValidate,
  },
  {
    name: 'policy test',
    summary: 'Show what would be decided on a call, and by which rule',
    load: async () => (await import('./policy-test.ts')).policyTest,
  },
  {
    name: 'policy set',
    summary: "Replace the organisation's policy, or that of one agent, if it holds",
    load: async () => (await import('./policy-set.ts')).policySet,
  },
  {
    name: 'state list',
    summary: 'List the keys of an agent, or of the area that all share',
    load: async () => (await import('./state-list.ts')).stateList,
  },
  {
    name: 'state get',
    summary: 'Print the value of a key as JSON',
    load: async () => (await import('./state-get.ts')).stateGet,
  },
  {
    name: 'state set',
    summary: 'Store a JSON value under a key',
    load: async () => (await import('./state-set.ts')).stateSet,
  },
  {
    name: 'state delete',
    summary: 'Delete a key',
    load: async () => (await import('./state-delete.ts')).stateDelete,
  },
  {
    name: 'alerts list',
    summary: 'List alerts, newest first',
    load: async () => (await import('./alerts-list.ts')).alertsList,
  },
  {
    name: 'alerts ack',
    summary: 'Say that you have taken note of an alert',
    load: async () => (await import('./alerts-ack.ts')).alertsAck,
  },
  {
    name: 'processes list',
    summary: 'List the programs that agents run, and what became of those in the background',
    load: async () => (await import('./processes-list.ts')).processesList,
  },
  {
    name: 'processes show',
    summary: 'Show one program of an agent',
    load: async () => (await import('./processes-show.ts')).processesShow,
  },
  {
    name: 'processes logs',
    summary: 'Print what a program of an agent wrote, its end first of all',
    load: async () => (await import('./processes-logs.ts')).processesLogs,
  },
  {
    name: 'processes kill',
    summary: 'End a program of an agent, with all that it started',
    load: async () => (await import('./processes-kill.ts')).processesKill,
  },
  {
    name: 'schedules list',
    summary: 'List the calls that agents put off, the newest first',
    load: async () => (await import('./schedules-list.ts')).schedulesList,
  },
  {
    name: 'schedules delete',
    summary: 'End a schedule of an agent',
    load: async () => (await import('./schedules-delete.ts')).schedulesDelete,
  },
  {
    name: 'models list',
    summary: 'List local models: what is installed, what may be, and whether it fits',
    load: async () => (await import('./models-list.ts')).modelsList,
  },
  {
    name: 'models show',
    summary: 'Show one model; with --inspect, read what it is from its source first',
    load: async () => (await import('./models-show.ts')).modelsShow,
  },
  {
    name: 'models install',
    summary: 'Fetch a model, verify it and put it in its place; it goes on where it stopped',
    load: async () => (await import('./models-install.ts')).modelsInstall,
  },
  {
    name: 'models cancel',
    summary: 'End the installation of a model; what was fetched stays for the next one',
    load: async () => (await import('./models-cancel.ts')).modelsCancel,
  },
  {
    name: 'models remove',
    summary: 'Remove the file of a model, or what is left of an unfinished download',
    load: async () => (await import('./models-remove.ts')).modelsRemove,
  },
  {
    name: 'models verify',
    summary: 'Hash the installed file of a model again; one that changed is taken out of use',
    load: async () => (await import('./models-verify.ts')).modelsVerify,
  },
  {
    name: 'models default',
    summary: 'Show or choose the model that is used where a caller names none',
    load: async () => (await import('./models-default.ts')).modelsDefault,
  },
  {
    name: 'models catalog',
    summary: 'Show how the catalog is and which entries it lost; with --refresh, fetch it now',
    load: async () => (await import('./models-catalog.ts')).modelsCatalog,
  },
  {
    name: 'models setup',
    summary:
      'Install the engine that runs local models, and say what is missing where it cannot be',
    load: async () => (await import('./models-setup.ts')).modelsSetup,
  },
  {
    name: 'models try',
    summary: 'Ask a local model something',
    load: async () => (await import('./models-try.ts')).modelsTry,
  },
  {
    name: 'models engine',
    summary: 'Show the engine of local models: what is loaded, what it takes, how it has fared',
    load: async () => (await import('./models-engine.ts')).modelsEngine,
  },
  {
    name: 'models start',
    summary: 'Load a model now, instead of with the first request',
    load: async () => (await import('./models-start.ts')).modelsStart,
  },
  {
    name: 'models stop',
    summary: 'End the engine of local models and free its memory',
    load: async () => (await import('./models-stop.ts')).modelsStop,
  },
  {
    name: 'models release',
    summary: 'Let a model out of quarantine',
    load: async () => (await import('./models-release.ts')).modelsRelease,
  },
  {
    name: 'catalog validate',
    summary: 'Check a catalog of models by the rules that load it, without a server',
    load: async () => (await import('./catalog-validate.ts')).catalogValidate,
  },
  {
    name: 'wake',
    summary: 'Tell an agent that there is something to do',
    load: async () => (await import('./wake.ts')).wake,
  },
  {
    name: 'proxy status',
    summary: 'List the connected services: how each is, what is read and what waits',
    load: async () => (await import('./proxy-status.ts')).proxyStatus,
  },
  {
    name: 'proxy kinds',
    summary: 'List what can be connected, with the settings and credentials each asks for',
    load: async () => (await import('./proxy-kinds.ts')).proxyKinds,
  },
  {
    name: 'proxy connect',
    summary:
      'Connect a service once everything about it was seen to work; credentials come from the input',
    load: async () => (await import('./proxy-connect.ts')).proxyConnect,
  },
  {
    name: 'proxy test',
    summary: 'Look at each thing a service needs, and name what does not work',
    load: async () => (await import('./proxy-test.ts')).proxyTest,
  },
  {
    name: 'proxy sync',
    summary: 'Read now what changed at a service',
    load: async () => (await import('./proxy-sync.ts')).proxySync,
  },
  {
    name: 'proxy disconnect',
    summary:
      'End a service: cancel what waits, drop its replica, its ways back and its credentials',
    load: async () => (await import('./proxy-disconnect.ts')).proxyDisconnect,
  },
  {
    name: 'proxy writes',
    summary: 'List writes that wait for their time, or those that stand otherwise',
    load: async () => (await import('./proxy-writes.ts')).proxyWrites,
  },
  {
    name: 'proxy cancel',
    summary: 'Cancel a write before it runs',
    load: async () => (await import('./proxy-cancel.ts')).proxyCancel,
  },
  {
    name: 'proxy retry',
    summary: 'Send a write that failed once more; look first whether it is there',
    load: async () => (await import('./proxy-retry.ts')).proxyRetry,
  },
  {
    name: 'proxy discard',
    summary: 'Discard a write that failed',
    load: async () => (await import('./proxy-discard.ts')).proxyDiscard,
  },
  {
    name: 'proxy rollbacks',
    summary: 'List what stood before writes and can be gone back to, the newest first',
    load: async () => (await import('./proxy-rollbacks.ts')).proxyRollbacks,
  },
  {
    name: 'proxy rollback',
    summary: 'Go back to what stood before a write, exactly or not at all',
    load: async () => (await import('./proxy-rollback.ts')).proxyRollback,
  },
  {
    name: 'vault status',
    summary: 'Show whether the vault is locked, how, and how much it holds',
    load: async () => (await import('./vault-status.ts')).vaultStatus,
  },
  {
    name: 'vault list',
    summary: 'List the secrets: where they may be used and when they were, never their values',
    load: async () => (await import('./vault-list.ts')).vaultList,
  },
  {
    name: 'vault show',
    summary: 'Show everything about a secret but its value',
    load: async () => (await import('./vault-show.ts')).vaultShow,
  },
  {
    name: 'vault add',
    summary: 'Keep a secret; its value comes from the input or a file, never as an argument',
    load: async () => (await import('./vault-add.ts')).vaultAdd,
  },
  {
    name: 'vault rotate',
    summary: 'Give a secret a new value; nothing is left of the old one',
    load: async () => (await import('./vault-rotate.ts')).vaultRotate,
  },
  {
    name: 'vault scope',
    summary: 'Change where a secret may be used; each list given replaces the one there is',
    load: async () => (await import('./vault-scope.ts')).vaultScope,
  },
  {
    name: 'vault delete',
    summary: 'Delete a secret; calls that name it are refused from now on',
    load: async () => (await import('./vault-delete.ts')).vaultDelete,
  },
  {
    name: 'vault check',
    summary: 'Say whether an agent may use a secret with a capability at a host, and why',
    load: async () => (await import('./vault-check.ts')).vaultCheck,
  },
  {
    name: 'vault lock',
    summary: 'Let the running server forget the master key; what needs a secret is refused',
    load: async () => (await import('./vault-lock.ts')).vaultLock,
  },
  {
    name: 'vault unlock',
    summary: 'Open the vault of the running server, by its passphrase or its key file',
    load: async () => (await import('./vault-unlock.ts')).vaultUnlock,
  },
  {
    name: 'vault passphrase',
    summary: 'Set or change the passphrase of the vault, or go back to a key file',
    load: async () => (await import('./vault-passphrase.ts')).vaultPassphrase,
  },
  {
    name: 'vault rotate-key',
    summary: 'Make a new master key, and put it around every secret in place of the old one',
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
    summary: 'End a user token',
    load: async () => (await import('./user-token-revoke.ts')).userTokenRevoke,
  },
  {
    name: 'setup sandbox',
    summary: 'Try the sandbox of programs, and say what to install or allow for it',
    load: async () => (await import('./setup-sandbox.ts')).setupSandbox,
  },
  {
    name: 'setup-link',
    summary: 'Print a new one-time link that makes the first operator of the dashboard',
    load: async () => (await import('./setup-link.ts')).setupLink,
  },
  {
    name: 'operator set-password',
    summary: 'Set the password of an operator of the dashboard, and make the operator if need be',
    load: async () => (await import('./operator-set-password.ts')).operatorSetPassword,
  },
  {
    name: 'operator list',
    summary: 'List who can log in to the dashboard',
    load: async () => (await import('./operator-list.ts')).operatorList,
  },
  {
    name: 'operator remove',
    summary: 'Take the login to the dashboard away from somebody',
    load: async () => (await import('./operator-remove.ts')).operatorRemove,
  },
  {
    name: 'trust',
    summary: 'Let this machine trust the certificate of the dashboard, or no longer',
    load: async () => (await import('./trust.ts')).trust,
  },
  {
    name: 'tls fingerprint',
    summary: 'Show the fingerprints by which a browser knows the dashboard',
    load: async () => (await import('./tls-fingerprint.ts')).tlsFingerprint,
  },
  {
    name: 'completion',
    summary: 'Print a script that lets a shell complete commands, agents and approvals',
    load: async () => (await import('./completion.ts')).completion,
  },
  {
    name: 'version',
    summary: 'Show the version of this command',
    load: async () => (await import('./version.ts')).version,
  },
  {
    name: '__complete',
    summary: 'Words that may follow, for the completion of shells',
    load: async () => (await import('./complete.ts')).complete,
  },
]
