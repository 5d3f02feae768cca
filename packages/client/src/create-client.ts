import type {
  ActivityPage,
  Agent,
  AgentDetail,
  AgentList,
  AgentWithToken,
  Alert,
  AlertList,
  AlertStatus,
  Approval,
  ApprovalList,
  ApprovalStatus,
  ApproveBody,
  AuditEntry,
  AuditPage,
  AuditProof,
  BufferedWrite,
  BufferedWriteList,
  CatalogState,
  ChangeSecret,
  ConnectedService,
  CreatedUserToken,
  DecideBody,
  DecideOutcomes,
  DefaultModel,
  DeletedSecret,
  DeletedState,
  EngineSetup,
  EngineState,
  FailedNotificationList,
  Grant,
  GrantList,
  Health,
  HealthStatus,
  Integrity,
  KilledProcess,
  KillProcess,
  LoggedOut,
  Login,
  Model,
  ModelAnswer,
  ModelJob,
  ModelList,
  ModelVerification,
  NotificationTargetList,
  NotificationTest,
  Operator,
  OperatorList,
  PasswordSet,
  PausedAgents,
  PolicyTrial,
  PolicyVerdict,
  PolicyView,
  Process,
  ProcessList,
  ProcessLog,
  ProcessState,
  ProcessStream,
  ProxyService,
  ProxyStatus,
  RejectBody,
  ReleasedModel,
  RemovedModel,
  RetriedNotifications,
  RollbackList,
  RollbackPoint,
  RollbackPreview,
  RollbackStatus,
  RotatedVaultKey,
  RotateVaultKey,
  SandboxReport,
  SavedPolicy,
  Schedule,
  ScheduleList,
  Secret,
  SecretCheck,
  SecretList,
  ServiceKindList,
  ServiceTest,
  SetPassword,
  SetUp,
  SetupLink,
  SetupState,
  SetVaultPassphrase,
  StateKeys,
  StateValue,
  SystemStatus,
  TryModel,
  UnlockVault,
  UserToken,
  UserTokenList,
  VaultStatus,
  Whoami,
  WriteFilterStatus,
} from '@gatehouse/contract'
import type { OperationId } from './operations.ts'
import { readEvents, readLines, type ServerEvent } from './read-lines.ts'
import { type ClientOptions, createSend, type Parts, readRecord } from './send.ts'

/** What a request may leave out, the server fills in. */
type NewAgent = {
  readonly name: string
  readonly purpose?: string
  readonly approvals?: 'pending' | 'hold'
  readonly mounts?: readonly { readonly path: string; readonly read_only?: boolean }[]
}
type ApprovalQuery = {
  readonly status?: ApprovalStatus | 'all'
  readonly agent?: string
  readonly limit?: number
  readonly offset?: number
}
type GrantQuery = {
  readonly status?: 'usable' | 'all'
  readonly agent?: string
  readonly limit?: number
  readonly offset?: number
}
type AuditQuery = {
  readonly agent?: string
  readonly capability?: string
  readonly since?: string
  readonly until?: string
  readonly result?: string
  readonly policy_decision?: string
  readonly session?: string
  readonly limit?: number
  readonly offset?: number
}
type ActivityQuery = {
  readonly agent?: string
  readonly limit?: number
  readonly offset?: number
}
type AlertQuery = {
  readonly status?: AlertStatus
  readonly limit?: number
  readonly offset?: number
}
type StateRange = { readonly prefix?: string; readonly after?: string; readonly limit?: number }
type NewValue = {
  readonly value: unknown
  readonly expected_version?: number
  readonly ttl_seconds?: number
}
type Area = { readonly agent: string }
type Key = { readonly key: string }
/** What is left out of a scope refuses. */
type NewSecret = {
  readonly name: string
  readonly value: string
  readonly description?: string
  readonly capabilities?: readonly string[]
  readonly hosts?: readonly string[]
  readonly agents?: readonly string[]
}
type NewService = {
  readonly name?: string
  readonly kind: string
  readonly settings?: Readonly<Record<string, unknown>>
  readonly secrets?: Readonly<Record<string, string>>
  readonly agents: readonly string[]
}
type WriteQuery = {
  readonly status?: WriteFilterStatus | 'all'
  readonly agent?: string
  readonly service?: string
  readonly limit?: number
  readonly offset?: number
}
type RollbackQuery = {
  readonly status?: RollbackStatus
  readonly service?: string
  readonly limit?: number
  readonly offset?: number
}

type Named = { readonly name: string }
type ProcessQuery = {
  readonly agent?: string
  readonly state?: ProcessState
  readonly limit?: number
  readonly offset?: number
}

type ProcessLogQuery = {
  readonly stream?: ProcessStream
  readonly offset?: number
  readonly limit?: number
}

type WithId = { readonly id: string }

export type Client = ReturnType<typeof createClient>

/** One method for each operation. Raises `ClientError` for a refusal, `UnreachableError` for silence. */
export function createClient(options: ClientOptions) {
  const send = createSend(options)
  const ask = async <T>(operation: OperationId, parts?: Parts): Promise<T> =>
    (await readRecord(operation, await send(operation, parts))) as T
  const bodyOf = async (operation: OperationId, signal?: AbortSignal, parts: Parts = {}) => {
    const { body } = await send(operation, signal ? { ...parts, signal } : parts)
    return body ?? new ReadableStream<Uint8Array>({ start: (controller) => controller.close() })
  }

  return {
    getStatus: () => ask<SystemStatus>('getStatus'),
    getHealth: () => ask<Health>('getHealth'),
    probeSandbox: () => ask<SandboxReport>('probeSandbox'),
    isAlive: () => ask<{ status: HealthStatus }>('isAlive'),
    isReady: () => ask<{ status: HealthStatus }>('isReady'),

    listAgents: () => ask<AgentList>('listAgents'),
    createAgent: (body: NewAgent) => ask<AgentWithToken>('createAgent', { body }),
    showAgent: (params: Named) => ask<AgentDetail>('showAgent', { params }),
    pauseAgent: (params: Named) => ask<Agent>('pauseAgent', { params }),
    resumeAgent: (params: Named) => ask<Agent>('resumeAgent', { params }),
    rotateAgent: ({ name, ...body }: Named & { readonly overlap_seconds?: number }) =>
      ask<AgentWithToken>('rotateAgent', { params: { name }, body }),
    revokeAgent: (params: Named) => ask<Agent>('revokeAgent', { params }),
    restoreAgent: (params: Named) => ask<AgentWithToken>('restoreAgent', { params }),

    pauseAll: () => ask<PausedAgents>('pauseAll'),
    resumeAll: () => ask<PausedAgents>('resumeAll'),

    /** In the Prometheus text format. */
    getMetrics: async (): Promise<string> => (await send('getMetrics')).text(),
    listActivity: (query: ActivityQuery = {}) => ask<ActivityPage>('listActivity', { query }),
    /** Each event (`activity`) with its place (`id`), from the place `after` or from now on. */
    async *streamActivity(
      signal: AbortSignal,
      query: { readonly agent?: string; readonly after?: string } = {},
    ): AsyncGenerator<ServerEvent> {
      yield* readEvents(await bodyOf('streamActivity', signal, { query }))
    },

    listAlerts: (query: AlertQuery = {}) => ask<AlertList>('listAlerts', { query }),
    acknowledgeAlert: (params: WithId) => ask<Alert>('acknowledgeAlert', { params }),

    /** `agent` is a name, or `shared` for what all agents share. */
    listState: ({ agent, ...query }: Area & StateRange) =>
      ask<StateKeys>('listState', { params: { agent }, query }),
    showState: (params: Area & Key) => ask<StateValue>('showState', { params }),
    setState: ({ agent, key, ...body }: Area & Key & NewValue) =>
      ask<StateValue>('setState', { params: { agent, key }, body }),
    deleteState: (params: Area & Key) => ask<DeletedState>('deleteState', { params }),

    listApprovals: (query: ApprovalQuery = {}) => ask<ApprovalList>('listApprovals', { query }),
    showApproval: (params: WithId) => ask<Approval>('showApproval', { params }),
    approveApproval: ({ id, ...body }: WithId & ApproveBody) =>
      ask<Approval>('approveApproval', { params: { id }, body }),
    rejectApproval: ({ id, ...body }: WithId & RejectBody) =>
      ask<Approval>('rejectApproval', { params: { id }, body }),
    decideApprovals: (body: DecideBody) => ask<DecideOutcomes>('decideApprovals', { body }),
    listGrants: (query: GrantQuery = {}) => ask<GrantList>('listGrants', { query }),
    revokeGrant: (params: WithId) => ask<Grant>('revokeGrant', { params }),
    /** What waits now (`snapshot`), then each change (`approval`), until the signal aborts. */
    async *streamApprovals(signal: AbortSignal): AsyncGenerator<ServerEvent> {
      yield* readEvents(await bodyOf('streamApprovals', signal))
    },

    queryAudit: (query: AuditQuery = {}) => ask<AuditPage>('queryAudit', { query }),
    showAuditEntry: (params: WithId) => ask<AuditEntry>('showAuditEntry', { params }),
    proveAuditEntry: (params: WithId) => ask<AuditProof>('proveAuditEntry', { params }),
    verifyAudit: () => ask<Integrity>('verifyAudit'),
    acknowledgeAudit: (body: { readonly reason: string }) =>
      ask<Integrity>('acknowledgeAudit', { body }),
    reindexAudit: () => ask<Integrity>('reindexAudit'),
    async *exportAudit(): AsyncGenerator<string> {
      yield* readLines(await bodyOf('exportAudit'))
    },

    listNotifications: () => ask<NotificationTargetList>('listNotifications'),
    listFailedNotifications: (params: Named) =>
      ask<FailedNotificationList>('listFailedNotifications', { params }),
    testNotification: (params: Named) => ask<NotificationTest>('testNotification', { params }),
    retryNotifications: (params: Named) =>
      ask<RetriedNotifications>('retryNotifications', { params }),

    /** The encrypted file as it is made. */
    makeBackup: (body: {
      readonly passphrase?: string
      readonly key?: string
      readonly with_workspaces?: boolean
    }): Promise<ReadableStream<Uint8Array>> => bodyOf('makeBackup', undefined, { body }),

    listProcesses: (query: ProcessQuery = {}) => ask<ProcessList>('listProcesses', { query }),
    showProcess: (params: WithId) => ask<Process>('showProcess', { params }),
    readProcessLog: ({ id, ...query }: WithId & ProcessLogQuery) =>
      ask<ProcessLog>('readProcessLog', { params: { id }, query }),
    killProcess: ({ id, ...body }: WithId & Partial<KillProcess>) =>
      ask<KilledProcess>('killProcess', { params: { id }, body }),
    listSchedules: (
      query: { readonly agent?: string; readonly limit?: number; readonly offset?: number } = {},
    ) => ask<ScheduleList>('listSchedules', { query }),
    deleteSchedule: (params: WithId) => ask<Schedule>('deleteSchedule', { params }),

    listModels: () => ask<ModelList>('listModels'),
    refreshCatalog: () => ask<CatalogState>('refreshCatalog'),
    /** Null: none is used where a caller names none. */
    setDefaultModel: (body: { readonly id: string | null }) =>
      ask<DefaultModel>('setDefaultModel', { body }),
    showModel: (params: WithId) => ask<Model>('showModel', { params }),
    inspectModel: (params: WithId) => ask<Model>('inspectModel', { params }),
    installModel: (params: WithId) => ask<ModelJob>('installModel', { params }),
    cancelInstall: (params: WithId) => ask<ModelJob>('cancelInstall', { params }),
    verifyModel: (params: WithId) => ask<ModelVerification>('verifyModel', { params }),
    removeModel: (params: WithId) => ask<RemovedModel>('removeModel', { params }),
    showJob: (params: WithId) => ask<ModelJob>('showJob', { params }),
    showEngine: () => ask<EngineState>('showEngine'),
    setUpEngine: () => ask<EngineSetup>('setUpEngine'),
    startEngine: (body: { readonly model: string | null }) =>
      ask<EngineState>('startEngine', { body }),
    stopEngine: () => ask<EngineState>('stopEngine'),
    releaseModel: (params: WithId) => ask<ReleasedModel>('releaseModel', { params }),
    tryModel: ({ id, ...body }: WithId & Partial<TryModel> & Pick<TryModel, 'prompt'>) =>
      ask<ModelAnswer>('tryModel', { params: { id }, body }),

    showProxy: () => ask<ProxyStatus>('showProxy'),
    listServiceKinds: () => ask<ServiceKindList>('listServiceKinds'),
    connectService: (body: NewService) => ask<ConnectedService>('connectService', { body }),
    testService: (params: Named) => ask<ServiceTest>('testService', { params }),
    syncService: ({ name, ...body }: Named & { readonly full?: boolean }) =>
      ask<ProxyService>('syncService', { params: { name }, body }),
    disconnectService: ({ name, ...body }: Named & { readonly forget?: boolean }) =>
      ask<ProxyService>('disconnectService', { params: { name }, body }),
    listWrites: (query: WriteQuery = {}) => ask<BufferedWriteList>('listWrites', { query }),
    cancelWrite: (params: WithId) => ask<BufferedWrite>('cancelWrite', { params }),
    retryWrite: (params: WithId) => ask<BufferedWrite>('retryWrite', { params }),
    discardWrite: (params: WithId) => ask<BufferedWrite>('discardWrite', { params }),
    listRollbacks: (query: RollbackQuery = {}) => ask<RollbackList>('listRollbacks', { query }),
    previewRollback: (params: WithId) => ask<RollbackPreview>('previewRollback', { params }),
    rollBack: (params: WithId) => ask<RollbackPoint>('rollBack', { params }),

    listUserTokens: () => ask<UserTokenList>('listUserTokens'),
    createUserToken: (body: { readonly label: string; readonly role?: UserToken['role'] }) =>
      ask<CreatedUserToken>('createUserToken', { body }),
    revokeUserToken: (params: WithId) => ask<UserToken>('revokeUserToken', { params }),

    showVault: () => ask<VaultStatus>('showVault'),
    lockVault: () => ask<VaultStatus>('lockVault'),
    unlockVault: (body: UnlockVault) => ask<VaultStatus>('unlockVault', { body }),
    /** `passphrase: null` goes back to a key file. */
    setVaultPassphrase: (body: SetVaultPassphrase) =>
      ask<VaultStatus>('setVaultPassphrase', { body }),
    rotateVaultKey: (body: RotateVaultKey) => ask<RotatedVaultKey>('rotateVaultKey', { body }),
    listSecrets: () => ask<SecretList>('listSecrets'),
    addSecret: (body: NewSecret) => ask<Secret>('addSecret', { body }),
    showSecret: (params: Named) => ask<Secret>('showSecret', { params }),
    changeSecret: ({ name, ...body }: Named & ChangeSecret) =>
      ask<Secret>('changeSecret', { params: { name }, body }),
    rotateSecret: ({ name, ...body }: Named & { readonly value: string }) =>
      ask<Secret>('rotateSecret', { params: { name }, body }),
    deleteSecret: (params: Named) => ask<DeletedSecret>('deleteSecret', { params }),
    checkSecret: ({
      name,
      ...query
    }: Named & {
      readonly agent: string
      readonly capability: string
      readonly host?: string | undefined
    }) => ask<SecretCheck>('checkSecret', { params: { name }, query }),

    showPolicies: () => ask<PolicyView>('showPolicies'),
    validatePolicy: (body: {
      readonly text: string
      readonly file?: string
      readonly agent?: string
    }) => ask<PolicyVerdict>('validatePolicy', { body }),
    testPolicy: (body: {
      readonly agent: string
      readonly capability: string
      readonly arguments?: Readonly<Record<string, unknown>>
      readonly at?: string
    }) => ask<PolicyTrial>('testPolicy', { body }),
    saveOrganisationPolicy: (body: { readonly text: string }) =>
      ask<SavedPolicy>('saveOrganisationPolicy', { body }),
    saveAgentPolicy: ({ name, ...body }: Named & { readonly text: string }) =>
      ask<SavedPolicy>('saveAgentPolicy', { params: { name }, body }),

    showSession: () => ask<Whoami>('showSession'),
    logIn: (body: Login) => ask<Whoami>('logIn', { body }),
    logOut: () => ask<LoggedOut>('logOut'),
    showSetup: () => ask<SetupState>('showSetup'),
    setUp: (body: SetUp) => ask<Whoami>('setUp', { body }),
    createSetupLink: () => ask<SetupLink>('createSetupLink'),
    listOperators: () => ask<OperatorList>('listOperators'),
    setPassword: ({ name, ...body }: Named & SetPassword) =>
      ask<PasswordSet>('setPassword', { params: { name }, body }),
    removeOperator: (params: Named) => ask<Operator>('removeOperator', { params }),

    getOpenApi: () => ask<Record<string, unknown>>('getOpenApi'),
  }
}
