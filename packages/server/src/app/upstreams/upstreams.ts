import {
  type AcceptUpstream,
  type AddUpstream,
  type AnswerBody,
  type AnsweredQuestion,
  type DeclineUpstream,
  type FinishUpstreamLogin,
  GatehouseError,
  type LoginUpstream,
  type LogoutUpstream,
  type Question,
  type QuestionList,
  type RemovedUpstream,
  type SuggestedRules,
  type UpstreamList,
  type UpstreamLoginStart,
  type UpstreamReview,
  type UpstreamStatus,
} from '@gatehouse/contract'
import { suggestedTier, suggestRules } from '../../domain/upstream/suggest-rules.ts'
import type { Gates } from '../../ports/gates.ts'
import type { Sandbox } from '../../ports/sandbox.ts'
import type { ToolCall } from '../../ports/upstream.ts'
import type { EndsWithAgent } from '../agents/change-agent.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Call } from '../call/call.ts'
import type { Op } from '../call/op.ts'
import type { Components, Part } from '../call/part.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { addUpstream, forgetCredentials } from './add-upstream.ts'
import { callTool } from './call-tool.ts'
import { type ConnectionDeps, Connections } from './connections.ts'
import { type EditOrder, editUpstream } from './edit-upstream.ts'
import type { ChangingLists } from './features.ts'
import {
  answerServers,
  serversElsewhere,
  type ToolCaller,
  type WatchUpstream,
} from './foreign-calls.ts'
import { beginLogin, endLogin, finishLogin, logout } from './login.ts'
import { type QuestionDeps, Questions } from './questions.ts'
import { recordSeen, whilePinned } from './record-seen.ts'
import { acceptUpstream, declineUpstream } from './review-tools.ts'
import { reviewOf, upstreamRecord } from './show-upstream.ts'
import { orderOf, readRow } from './stored.ts'
import type { CallUpstream } from './tool-capability.ts'
import { findUpstream, type UpstreamDeps } from './upstream-deps.ts'
import { takeUpstreamTurn } from './upstream-turn.ts'

export type UpstreamRoomDeps = Omit<UpstreamDeps, 'connections'> & {
  readonly settings: ConnectionDeps['settings'] & QuestionDeps['settings']
  readonly notified: QuestionDeps['notified']
  /** Told of each change of prompts or resources. */
  readonly listChanged: ConnectionDeps['listChanged']
  readonly secrets: QuestionDeps['secrets']
  readonly node: string
  readonly gates: Gates | null
  readonly stops: QuestionDeps['stops']
  readonly sandbox: Pick<Sandbox, 'ready'>
  readonly signal: AbortSignal
}

/** MCP servers behind the gate, for people; each change is recorded. */
export interface UpstreamUseCases {
  listUpstreams(op: Op): Promise<UpstreamList>
  showUpstream(op: Op, input: { name: string }): Promise<UpstreamReview>
  addUpstream(op: Op, input: AddUpstream): Promise<UpstreamReview>
  /** Raises `UpstreamChanged` where it is at none of the versions. */
  editUpstream(op: Op, input: EditOrder): Promise<UpstreamReview>
  acceptUpstream(op: Op, input: { name: string } & AcceptUpstream): Promise<UpstreamReview>
  /** New and changed tools stay out of service, and ask nobody before the server shows something else. */
  declineUpstream(op: Op, input: { name: string } & DeclineUpstream): Promise<UpstreamReview>
  refreshUpstream(op: Op, input: { name: string }): Promise<UpstreamReview>
  restartUpstream(op: Op, input: { name: string }): Promise<UpstreamReview>
  loginUpstream(op: Op, input: { name: string } & LoginUpstream): Promise<UpstreamLoginStart>
  finishUpstreamLogin(
    op: Op,
    input: { name: string } & FinishUpstreamLogin,
  ): Promise<UpstreamReview>
  logoutUpstream(op: Op, input: { name: string } & LogoutUpstream): Promise<UpstreamReview>
  suggestUpstreamRules(op: Op, input: { name: string }): Promise<SuggestedRules>
  removeUpstream(op: Op, input: { name: string }): Promise<RemovedUpstream>

  // Questions of servers to people
  listQuestions(op: Op): Promise<QuestionList>
  /** Raises `QuestionNotFound` and `QuestionWithdrawn`. */
  showQuestion(op: Op, input: { question_id: string }): Promise<Question>
  answerQuestion(op: Op, input: { question_id: string } & AnswerBody): Promise<AnsweredQuestion>
  /** Calls the listener with each question as it is asked. */
  subscribeQuestions(listener: (question: Question) => void): Disposable
}

export type Upstreams = Part<UpstreamUseCases> & {
  readonly call: CallUpstream
  readonly watch: WatchUpstream
  tellsChanges(name: string): boolean
  changingLists(name: string): ChangingLists
  /** Raises what a call of a tool would raise before it reaches its server. */
  assertCallable(call: Pick<Call, 'agent' | 'capability'>): Promise<void>
  /** Ends what a revoked agent has of its own. */
  readonly endWithAgent: EndsWithAgent
  health(): Components['upstreams']
}

type Inner = UpstreamDeps &
  Pick<UpstreamRoomDeps, 'sandbox' | 'signal'> & { readonly connections: Connections }

const idleLookMs = 15_000
const followMs = 2_000

export function bindUpstreams(deps: UpstreamRoomDeps): Upstreams {
  const { gates } = deps
  const connect: UpstreamDeps['host']['connect'] = (order, signal) =>
    whilePinned(inner, order.name, () => deps.host.connect(order, signal))
  const connections: Connections = new Connections({
    ...deps,
    host: { connect },
    seen: (...given) => recordSeen(inner, ...given),
    listChanged(change) {
      deps.listChanged(change)
      gates?.tell({ kind: 'list changed', change })
    },
  })
  const inner: Inner = { ...deps, connections }
  const idle = new PollLoop(deps, {
    name: 'ending idle connections to upstream servers',
    everyMs: idleLookMs,
    look: () => connections.endIdle(),
  })
  const followed = new PollLoop(deps, {
    name: 'following upstream servers of other nodes',
    everyMs: followMs,
    follows: ['upstreams'],
    look: async () => {
      const before = deps.table.offered()
      const records = (await deps.storage.upstreams.list()).map(readRow)
      for (const name of await deps.table.follow(records, before)) await connections.end(name)
    },
  })
  const questions = new Questions(deps)
  const calling = { ...inner, questions }
  const here = {
    call: (call: ToolCall, caller: ToolCaller) =>
      whilePinned(inner, call.upstream, () => callTool(calling, call, caller)),
    watch: (({ upstream, agent, uri }, signal, changed) =>
      connections.watch(upstream, agent, signal, { uri, changed })) satisfies WatchUpstream,
  }
  if (gates?.index === 0) answerServers(gates, deps, here)
  else gates?.onNews('list changed', ({ change }) => deps.listChanged(change))
  return {
    useCases: useCasesOf(inner, questions),
    ...(gates && gates.index > 0 ? serversElsewhere(gates) : here),
    tellsChanges: (name) => deps.table.seen(name)?.tells_changes === true,
    changingLists: (name) => deps.table.seen(name)?.changing_lists ?? [],
    assertCallable: (call) => assertCallable(inner, call),
    endWithAgent: async (_op, _tx, agent) => () => void connections.endOfAgent(agent),
    health: () => healthOf(inner),
    async start() {
      await questions.start()
      idle.start('later')
      // Nobody else changes a store that is not shared.
      if (deps.storage.isShared) followed.start('later')
    },
    async stopped() {
      await Promise.all([idle.stopped(), followed.stopped(), questions.stopped()])
      await connections.stopped()
    },
  }
}

function useCasesOf(inner: Inner, questions: Questions): UpstreamUseCases {
  return {
    listUpstreams: () => list(inner),
    showUpstream: (_op, { name }) => show(inner, name),
    addUpstream: (op, input) => addUpstream(op, inner, input),
    editUpstream: (op, input) => editUpstream(op, inner, input),
    acceptUpstream: (op, input) => acceptUpstream(op, inner, input),
    declineUpstream: (op, input) => declineUpstream(op, inner, input),
    refreshUpstream: (op, { name }) => refreshUpstream(op, inner, name, null),
    restartUpstream: (op, { name }) => restartUpstream(op, inner, name),
    loginUpstream: (op, input) => beginLogin(op, inner, input),
    finishUpstreamLogin: async (op, input) =>
      refreshUpstream(op, inner, input.name, await finishLogin(op, inner, input)),
    async logoutUpstream(op, { name, agent = null }) {
      await logout(op, inner, { name, agent })
      return await show(inner, name)
    },
    suggestUpstreamRules: (_op, { name }) => suggest(inner, name),
    removeUpstream: (op, { name }) => removeUpstream(op, inner, name),
    listQuestions: async () => ({ questions: [...questions.list()] }),
    showQuestion: async (_op, { question_id }) => questions.show(question_id),
    answerQuestion: (op, input) => questions.answer(op, input),
    subscribeQuestions: (listener) => questions.subscribe(listener),
  }
}

/** Raises what a call would raise for what is known of its server before it is reached. */
async function assertCallable(
  { table, sandbox }: Pick<Inner, 'table' | 'sandbox'>,
  { agent, capability }: Pick<Call, 'agent' | 'capability'>,
): Promise<void> {
  const record = table.assertInService(capability)
  const { access } = orderOf(record, record.config.per_agent ? agent.name : null)
  if (access.owner === null && record.login?.state === 'needed')
    throw new GatehouseError('UpstreamNeedsLogin', { upstream: record.name })
  if (record.config.server.kind === 'stdio') await sandbox.ready()
}

async function list(inner: Inner): Promise<UpstreamList> {
  const records = (await inner.storage.upstreams.list()).map(readRow)
  const upstreams = records.map(async (record) =>
    upstreamRecord(inner, record, await inner.table.compare(record)),
  )
  return { upstreams: await Promise.all(upstreams) }
}

async function show(inner: Inner, name: string): Promise<UpstreamReview> {
  const record = await findUpstream(inner, name)
  return reviewOf(inner, record, await inner.table.compare(record))
}

function healthOf(inner: Inner): Components['upstreams'] {
  const reasons: string[] = []
  const servers: Record<string, UpstreamStatus> = {}
  for (const { record, compared } of inner.table.offered()) {
    const { name, status, reason } = upstreamRecord(inner, record, compared)
    servers[name] = status
    if (status !== 'ready' && status !== 'unconnected') reasons.push(`${name}: ${reason}`)
  }
  return reasons.length === 0
    ? { status: 'healthy', servers }
    : { status: 'degraded', reason: reasons.join('; ').slice(0, 500), servers }
}

/** As the agent where one is named: with whatever that one is let in with. */
async function refreshUpstream(
  op: Op,
  inner: Inner,
  name: string,
  agent: string | null,
): Promise<UpstreamReview> {
  const record = await findUpstream(inner, name)
  await inner.connections.end(name, agent)
  const order = orderOf(record, agent)
  const connection = await whilePinned(inner, name, () => inner.host.connect(order, op.signal))
  let refused: readonly string[]
  try {
    await recordSeen(inner, order, connection, await connection.listTools(op.signal))
    refused = connection.hostsRefused()
  } finally {
    await connection.close()
  }
  return { ...(await show(inner, name)), hosts_refused: [...refused] }
}

async function restartUpstream(op: Op, inner: Inner, name: string): Promise<UpstreamReview> {
  await findUpstream(inner, name)
  await inner.auditLog.append(actDraft(op, 'upstream.restarted', { arguments: { name } }))
  await inner.connections.end(name)
  return show(inner, name)
}

async function suggest(inner: Inner, name: string): Promise<SuggestedRules> {
  const record = await findUpstream(inner, name)
  const compared = await inner.table.compare(record)
  const tools = compared.flatMap(({ capability, found }) => {
    if (capability === null || found === null) return []
    const description = typeof found['description'] === 'string' ? found['description'] : found.name
    return [{ capability, tier: suggestedTier(found), description }]
  })
  return { policy: suggestRules(name, tools) }
}

async function removeUpstream(op: Op, inner: Inner, name: string): Promise<RemovedUpstream> {
  const known = await findUpstream(inner, name)
  await using turn = await takeUpstreamTurn(inner, known.name)
  inner.table.withdraw(name)
  await inner.connections.end(name)
  // The row as it is at its end: an agent may have logged in meanwhile.
  const record = await inner.auditLog.transaction(async (tx) => {
    await turn.keep(tx.meta)
    const row = await tx.upstreams.find(name)
    if (!row) throw new GatehouseError('UpstreamNotFound', { upstream: name.slice(0, 100) })
    await tx.upstreams.remove(name)
    const last = readRow(row)
    const { server } = last.config
    tx.append(actDraft(op, 'upstream.removed', { arguments: { name, server } }))
    return last
  })
  // Once more: whatever was stored of it before may have offered it, and connected, since.
  inner.table.remove(record)
  await inner.connections.end(name)
  // Credentials, logins and folders of its name are those of somebody else's server once the turn is lost.
  await turn.keep()
  await forgetCredentials(inner, record)
  if (record.config.server.kind === 'http')
    for (const agent of [null, ...Object.keys(record.agent_logins)]) {
      await turn.keep()
      await endLogin(op, inner, { name, agent })
    }
  await turn.keep()
  await inner.host.forget(name)
  return { name, removed: true }
}
