import { setTimeout as sleep } from 'node:timers/promises'
import { GatehouseError, isAtLeast, isLogLevel, type LogLevel } from '@gatehouse/contract'
import {
  type MirroredArgument,
  mirroredArguments,
  mirroredHeaders,
} from '@gatehouse/contract/mirrored-arguments'
import {
  Client,
  type Progress,
  type Transport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { CertificateIdentity } from '../domain/upstream/certificate.ts'
import type { FeatureList } from '../domain/upstream/features.ts'
import { withoutReservedMeta } from '../domain/upstream/meta.ts'
import { visibleText } from '../domain/upstream/visible-text.ts'
import type {
  ResourceWatch,
  ServerList,
  UpstreamAnswer,
  UpstreamCall,
  UpstreamConnection,
  UpstreamIdentity,
  UpstreamQuestion,
  UpstreamReply,
  WireTool,
} from '../ports/upstream.ts'
import {
  addressesIn,
  readQuestion,
  readWanted,
  refusedRequest,
  replyToAll,
  wantedIn,
  wireReply,
} from './asked-questions.ts'
import { ChangedLists } from './changed-lists.ts'
import { type FeatureTool, featureTools } from './feature-tools.ts'
import { followTask, tasksExtension, wantsTask } from './followed-task.ts'
import type { HttpSession } from './http-session.ts'
import {
  detailMax,
  failureText,
  isLate,
  isOfNetwork,
  isUnknownSession,
  protocolErrorIn,
} from './sdk-failures.ts'
import { type ToolRequest, ToolRequests } from './tool-requests.ts'
import { answerIn, type Members, readToolResult } from './tool-result.ts'
import { type ResourceServer, WatchedResources } from './watched-resources.ts'

const toolsMax = 1_000
const pagesMax = 50
const listBytesMax = 8 * 1024 * 1024
/** How often a server may ask before it answers a call. */
const roundsMax = 10
/** For a server to hear that a task is cancelled. */
const cancelMs = 10_000
/** For a server to hear that its session is over. */
const leaveMs = 2_000
/** Before a call is made again that the server wants to be asked about once more. */
const paceMs = 250

const ToolPage = z.looseObject({
  tools: z.array(z.looseObject({ name: z.string().min(1).max(256) })),
  nextCursor: z.string().optional(),
})

/** Of requests that several calls share: none of them ends with one. */
const never = new AbortController().signal

/** Answers of a person, with what the server wants to have back. */
type More = {
  readonly requestState?: string
  readonly inputResponses?: Record<string, unknown>
}

/** A call under way. Made when it is first asked about: what ends its questions. */
type Running = { readonly call: UpstreamCall; ended: AbortController | null }

type RequestOptions = NonNullable<Parameters<Client['request']>[2]> & {
  readonly signal: AbortSignal
}

/** Nothing that a server could ask of a model is declared, and it is refused with the reason all the same. */
const capabilities = {
  elicitation: { form: {}, url: {} },
  extensions: { [tasksExtension]: {} },
}

/** Asks for the log of one request, in the versions in which each says so. */
const logLevelKey = 'io.modelcontextprotocol/logLevel'

export type Opening = {
  readonly name: string
  readonly version: string
  readonly transport: Transport
  readonly mode: VersionNegotiationMode
  readonly connectMs: number
  /** Whether several agents may call over it. */
  readonly shared: boolean
  /** Why the transport is closed, where it knows. */
  readonly reason: () => string | null
  /** Sentences that may tell more about a failure. */
  readonly heard: () => readonly string[]
  readonly hostsRefused: () => readonly string[]
  /** Seen at the first connection; null before, and of a program. */
  readonly certificate: () => CertificateIdentity | null
  /** Of a server over HTTP; absent of a program. */
  readonly session?: HttpSession
  /** Tells the server that its session is over, while it can be told that; absent where it learns by itself. */
  readonly leave?: () => Promise<void>
  readonly dispose: () => Promise<void>
}

const infoOf = ({ version }: Opening) => ({ name: 'gatehouse', title: 'Gatehouse', version })

/** A connection over the official client, which all but the calls of tools goes through. */
export class SdkConnection implements UpstreamConnection {
  readonly closed: Promise<string>
  readonly #opening: Opening
  readonly #client: Client
  /** By their names, since the tools were last listed. */
  #features: ReadonlyMap<string, FeatureTool> = new Map()
  /** By the names of tools that want an argument in a header, too. */
  #mirrored: ReadonlyMap<string, readonly MirroredArgument[]> = new Map()
  #tools: ToolRequests | null = null
  /** Tools that are called as tasks, in the versions in which the client decides that. */
  #asTasks: ReadonlySet<string> = new Set()
  /** In their order. */
  readonly #running = new Set<Running>()
  readonly #watched = new WatchedResources(() => this.#resourceServer())
  readonly #lists: ChangedLists
  /** Of the log, as the server was told last, in the versions in which that is said once for all calls. */
  #logLevel: LogLevel | null = null
  #end: (reason: string) => void = () => {}
  #forgotten: () => void = () => {}
  #hasLeft = false

  private constructor(opening: Opening) {
    this.#opening = opening
    this.closed = new Promise((resolve) => {
      this.#end = resolve
    })
    this.#client = new Client(infoOf(opening), {
      capabilities,
      versionNegotiation: { mode: opening.mode },
    })
    this.#client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) =>
      wireReply(await this.#askedBetween(params, mcpReq.signal)),
    )
    this.#client.fallbackRequestHandler = async ({ method }) => {
      throw refusedRequest(method)
    }
    this.#client.setNotificationHandler('notifications/message', ({ params }) =>
      this.#logged(params),
    )
    this.#client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
      this.#watched.changed(params.uri),
    )
    this.#lists = new ChangedLists(this.#client, opening.connectMs)
    opening.session?.listen({
      onForgotten: () => {
        this.#watched.end()
        this.#forgotten()
      },
      onGap: () => {
        this.#watched.changedAll()
        this.#lists.changedAll()
      },
    })
    this.#client.onclose = () => {
      this.#lists.close()
      this.#watched.end()
      this.#tools?.end()
      this.#end(this.#reason() ?? 'the server closed the connection')
    }
    // A message that makes no sense is dropped: it is no answer to anything.
    this.#client.onerror = () => {}
  }

  /** Raises `UpstreamFailed`. */
  static async open(opening: Opening, signal: AbortSignal): Promise<SdkConnection> {
    const connection = new SdkConnection(opening)
    try {
      await connection.#connect(signal)
      if (connection.#isModern) await connection.#lists.open()
      return connection
    } catch (cause) {
      const failure = connection.#failure(cause, signal)
      await connection.close()
      throw failure
    }
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const { transport, connectMs } = this.#opening
    await this.#client.connect(transport, { signal, timeout: connectMs })
    const version = this.#client.getNegotiatedProtocolVersion() ?? ''
    const sender = { version, info: infoOf(this.#opening), capabilities }
    this.#tools = new ToolRequests(transport, this.#isModern ? sender : null)
  }

  get certificate(): CertificateIdentity | null {
    return this.#opening.certificate()
  }

  get identity(): UpstreamIdentity {
    const { name, version } = this.#client.getServerVersion() ?? { name: '', version: '' }
    return {
      name: name.slice(0, 200),
      version: version.slice(0, 100),
      protocol: this.#client.getNegotiatedProtocolVersion() ?? '',
    }
  }

  async listTools(signal: AbortSignal): Promise<readonly WireTool[]> {
    const offers = this.#client.getServerCapabilities() ?? {}
    const own = offers.tools ? await this.#listOwnTools(signal) : []
    this.#mirrored = new Map(
      own.map(({ name, inputSchema }) => [name, mirroredArguments(inputSchema)] as const),
    )
    const offersTasks = !this.#isModern && offers.tasks?.requests?.tools?.call !== undefined
    this.#asTasks = new Set(offersTasks ? own.filter(wantsTask).map(({ name }) => name) : [])
    const features = featureTools(offers, own)
    this.#features = new Map(features.map((feature) => [feature.tool.name, feature]))
    return [...own, ...features.map(({ tool }) => tool)]
  }

  get #isModern(): boolean {
    return this.#client.getProtocolEra() === 'modern'
  }

  async #listOwnTools(signal: AbortSignal): Promise<readonly WireTool[]> {
    const tools: WireTool[] = []
    let cursor: string | undefined
    let bytes = 0
    for (let page = 0; page < pagesMax; page += 1) {
      const answer = await this.#request(
        'tools/list',
        cursor === undefined ? {} : { cursor },
        ToolPage,
        {
          signal,
          timeout: this.#opening.connectMs,
        },
      )
      tools.push(...(answer.tools as unknown as WireTool[]))
      bytes += JSON.stringify(answer.tools).length
      if (tools.length > toolsMax) throw this.#failed(`it lists more than ${toolsMax} tools`)
      if (bytes > listBytesMax)
        throw this.#failed(`its list of tools is larger than ${listBytesMax / 1024 / 1024} MiB`)
      if (answer.nextCursor === undefined) return tools
      cursor = answer.nextCursor
    }
    throw this.#failed(`its list of tools has more than ${pagesMax} pages`)
  }

  async call(call: UpstreamCall): Promise<UpstreamAnswer> {
    const { tool } = call
    const feature = this.#features.get(tool)
    const running: Running = { call, ended: null }
    this.#running.add(running)
    try {
      return await (feature ? this.#askFeature(call, feature) : this.#callOwnTool(call))
    } catch (failure) {
      const said = protocolErrorIn(failure)
      // Codes that say of a prompt or a resource that there is none, or that it lacks an argument.
      if (feature && (said?.code === -32602 || said?.code === -32002))
        throw new GatehouseError('InvalidArguments', {
          capability: `${this.#opening.name}.${tool}`,
          detail: visibleText(said.message, detailMax),
        })
      throw this.#answered(tool, failure)
    } finally {
      this.#running.delete(running)
      running.ended?.abort()
    }
  }

  async #askFeature(call: UpstreamCall, { method, answer }: FeatureTool): Promise<UpstreamAnswer> {
    const { signal, timeout_ms: timeout } = call
    const onprogress = ({ progress, total, message }: Progress) =>
      call.progress(progress, total, message)
    const options = {
      ...{ signal, timeout, maxTotalTimeout: timeout, onprogress },
      allowInputRequired: true,
    }
    const result = await this.#ask(call, (more) =>
      this.#request(method, { ...call.arguments, ...more }, z.looseObject({}), options),
    )
    return answer(this.#foreign(result))
  }

  async #callOwnTool(call: UpstreamCall): Promise<UpstreamAnswer> {
    const { tool: name, arguments: args } = call
    const meta = await this.#metaOf(call)
    const params = {
      ...{ name, arguments: args },
      ...(meta ? { _meta: meta } : {}),
      ...(this.#asTasks.has(name) ? { task: {} } : {}),
    }
    const mirrored = this.#isModern ? (this.#mirrored.get(name) ?? []) : []
    const headers = mirrored.length === 0 ? {} : { headers: mirroredHeaders(mirrored, args) }
    const answer = await this.#ask(call, (more) =>
      this.#askTool(call, { params: { ...params, ...more }, ...headers }),
    )
    const { task } = answer
    return this.#foreign(
      task === undefined ? (answer as UpstreamAnswer) : await this.#followTask(call, task),
    )
  }

  async #askTool(
    call: UpstreamCall,
    asked: Pick<ToolRequest, 'params' | 'headers'>,
  ): Promise<Members> {
    const { signal } = call
    if (!this.#tools) throw this.#failed('it is not connected')
    try {
      const result = await this.#tools.call({
        ...asked,
        signal,
        progress: (...told) => call.progress(...told),
      })
      return readToolResult(result, this.#isModern)
    } catch (cause) {
      throw this.#failure(cause, signal)
    }
  }

  /** Members sent beside the arguments; the server is asked for its log where somebody reads it. */
  async #metaOf({ meta, logs, signal }: UpstreamCall): Promise<UpstreamCall['meta']> {
    if (!logs) return meta
    const { level } = logs
    if (this.#isModern) return { ...meta, [logLevelKey]: level }
    if (this.#logLevel === level || !this.#client.getServerCapabilities()?.logging) return meta
    this.#logLevel = level
    const options = { signal, timeout: this.#opening.connectMs }
    // One that takes no level writes what it likes; what is below the level is left out here.
    await this.#request('logging/setLevel', { level }, z.looseObject({}), options).catch(() => {
      signal.throwIfAborted()
    })
    return meta
  }

  /**
   * Messages of the log do not say which call they are of: they go to the one that began last.
   * @SECURITY Of several agents none reads what may be another's; upstream/logs.test.ts.
   */
  #logged({ level, logger, data }: { level: string; logger?: string | undefined; data?: unknown }) {
    const running = [...this.#running]
    const logs = running.at(-1)?.call.logs
    if (!logs || (this.#opening.shared && running.length > 1)) return
    if (!isLogLevel(level) || !isAtLeast(level, logs.level)) return
    logs.tell({ level, ...(logger === undefined ? {} : { logger }), data })
  }

  /** Outcome of a call that the server answered with a task. */
  async #followTask(call: UpstreamCall, task: unknown): Promise<UpstreamAnswer> {
    const { signal, timeout_ms: timeout } = call
    const failed = (why: string, cause?: unknown) => this.#failed(why, cause)
    const ask = (question: UpstreamQuestion, ended: AbortSignal) =>
      call.ask(question, 0, AbortSignal.any([signal, ended]))
    let told = 0
    const result = await followTask(task, {
      isModern: this.#isModern,
      signal,
      failed,
      ask: (method, params) =>
        this.#request(method, params, z.looseObject({}), {
          // A task is cancelled after the call was.
          signal: method === 'tasks/cancel' ? AbortSignal.timeout(cancelMs) : signal,
          ...{ timeout, maxTotalTimeout: timeout },
        }),
      reply: (inputRequests) =>
        replyToAll(
          readWanted({ resultType: 'input_required', inputRequests }, failed),
          ask,
          failed,
        ),
      tell: (statusMessage) => {
        told += 1
        call.progress(told, undefined, visibleText(statusMessage, detailMax))
      },
    })
    const answer = answerIn(result)
    if (answer) return answer
    throw failed('its answer has not the form that the protocol asks for')
  }

  #foreign<T>(answer: T): T {
    const cleaned = withoutReservedMeta(answer)
    if (cleaned === null) throw this.#failed('its answer is nested too deeply')
    return cleaned
  }

  /** The answer to a request, however often the server wants a person to be asked before. */
  async #ask<T>(call: UpstreamCall, send: (more: More) => Promise<T>): Promise<T> {
    const { signal } = call
    const failed = (why: string) => this.#failed(why)
    const ask = (question: UpstreamQuestion, ended: AbortSignal) =>
      call.ask(question, 0, AbortSignal.any([signal, ended]))
    let more: More = {}
    for (let round = 0; round < roundsMax; round += 1) {
      const answer = await send(more).catch((failure: unknown) => {
        if (round === 0 && this.isForgotten && isUnknownSession(failure))
          throw this.#notTaken(failure)
        return this.#openFirst(failure, ask)
      })
      if (answer === null) continue
      const wanted = wantedIn(answer, failed)
      if (wanted === null) return answer
      const { requestState } = wanted
      const state = requestState === undefined ? {} : { requestState }
      if (wanted.inputRequests === undefined) await sleep(paceMs, undefined, { signal })
      more = { ...state, inputResponses: await replyToAll(wanted, ask, failed) }
    }
    throw this.#failed(`it asked more than ${roundsMax} times before it answered`)
  }

  /** Null once a person has opened what the server wants to be opened first; raises the failure otherwise. */
  async #openFirst(
    failure: unknown,
    ask: (question: UpstreamQuestion, ended: AbortSignal) => Promise<UpstreamReply>,
  ): Promise<null> {
    const cause = failure instanceof GatehouseError ? failure.cause : null
    const addresses = addressesIn(cause, (why) => this.#failed(why))
    const ended = new AbortController()
    try {
      const replies = await Promise.all(addresses.map((address) => ask(address, ended.signal)))
      if (replies.length === 0 || replies.some(({ action }) => action !== 'accept')) throw failure
      return null
    } finally {
      ended.abort()
    }
  }

  /** A question beside the calls. It does not say which of them it is for; most often there is one. */
  async #askedBetween(params: unknown, signal: AbortSignal): Promise<UpstreamReply> {
    const running = [...this.#running].at(-1)
    if (!running) throw this.#failed('it asks a person while no call of it is under way')
    const { call } = running
    const ended = (running.ended ??= new AbortController())
    const question = readQuestion('elicitation/create', params, (why) => this.#failed(why))
    const ends = AbortSignal.any([signal, call.signal, ended.signal])
    return await call.ask(question, this.#running.size - 1, ends)
  }

  get isForgotten(): boolean {
    return this.#opening.session?.isForgotten === true
  }

  onForgotten(listener: () => void): void {
    this.#forgotten = listener
  }

  /** Nothing was done: the same may be asked over another connection. */
  #notTaken(cause: unknown): GatehouseError {
    const { name } = this.#opening
    const detail = this.#reason() ?? ''
    return new GatehouseError(
      'UpstreamFailed',
      { upstream: name, detail, not_taken: true },
      { cause },
    )
  }

  get tellsChanges(): boolean {
    return this.#client.getServerCapabilities()?.resources?.subscribe === true
  }

  async watch(uri: string, changed: () => void, signal: AbortSignal): Promise<ResourceWatch> {
    if (!this.tellsChanges) throw this.#refused('does not tell of changes of its resources')
    return await this.#watched.watch(uri, changed, signal)
  }

  #resourceServer(): ResourceServer {
    const timeout = this.#opening.connectMs
    const options = { signal: never, timeout }
    return {
      isModern: this.#isModern,
      failed: (why) => this.#failed(why),
      refused: (why) => this.#refused(why),
      ask: async (method, uri) =>
        void (await this.#request(method, { uri }, z.looseObject({}), options).catch(
          (failure: unknown) => {
            throw this.#answered(method, failure)
          },
        )),
      listen: (uris) =>
        this.#client
          .listen({ resourceSubscriptions: [...uris] }, options)
          .catch((cause: unknown) => {
            throw this.#answered('subscriptions/listen', this.#failure(cause, never))
          }),
    }
  }

  #refused(why: string): GatehouseError {
    return new GatehouseError('UpstreamToolFailed', { detail: `${this.#opening.name} ${why}` })
  }

  /** Failure of a request: what the server itself answered is told in its words. */
  #answered(what: string, failure: unknown): unknown {
    const cause = protocolErrorIn(failure)
    if (cause === null) return failure
    const said = visibleText(cause.message, detailMax)
    const detail = `${what} of ${this.#opening.name} failed with code ${cause.code}: ${said}`
    return new GatehouseError('UpstreamToolFailed', { detail }, { cause })
  }

  get changingLists(): readonly FeatureList[] {
    return this.#lists.told.filter((list) => list !== 'tools')
  }

  onListChanged(listener: (list: ServerList) => void): void {
    this.#lists.onChange(listener)
  }

  hostsRefused(): readonly string[] {
    return this.#opening.hostsRefused()
  }

  async close(): Promise<void> {
    await this.#leave()
    await this.#client.close().catch(() => {})
    // A client that never connected closes nothing.
    await this.#opening.transport.close().catch(() => {})
    await this.#opening.dispose()
    this.#watched.end()
    this.#end(this.#reason() ?? 'it was closed')
  }

  /** Once: whoever closes it a second time finds it closed. */
  async #leave(): Promise<void> {
    const { leave } = this.#opening
    if (this.#hasLeft || !leave || this.#reason() !== null) return
    this.#hasLeft = true
    const waits = new AbortController()
    const timeUp = sleep(leaveMs, undefined, { signal: waits.signal }).catch(() => {})
    // A server that does not hear it forgets the session by itself, some time.
    await Promise.race([leave().catch(() => {}), timeUp])
    waits.abort()
  }

  async #request<S extends z.ZodType>(
    method: string,
    params: Readonly<Record<string, unknown>>,
    schema: S,
    options: RequestOptions,
  ): Promise<z.output<S>> {
    try {
      return (await this.#client.request({ method, params }, schema, options)) as z.output<S>
    } catch (cause) {
      throw this.#failure(cause, options.signal)
    }
  }

  #reason(): string | null {
    return this.#opening.reason()
  }

  #failed(why: string, cause?: unknown): GatehouseError {
    const { name, heard } = this.#opening
    const detail = [why.slice(0, detailMax), ...heard()].join('. ')
    const facts = { upstream: name, detail }
    return new GatehouseError('UpstreamFailed', facts, cause === undefined ? {} : { cause })
  }

  #failure(cause: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason
    if (cause instanceof GatehouseError && !isOfNetwork(cause)) return cause
    const inner =
      cause instanceof GatehouseError ? cause : (cause as { readonly cause?: unknown }).cause
    if (inner instanceof GatehouseError && inner.type === 'UpstreamCertificateChanged') return inner
    if (inner instanceof GatehouseError) return this.#failed(inner.message, cause)
    const ended = isLate(cause) ? null : this.#reason()
    return this.#failed(ended ?? failureText(cause), cause)
  }
}
