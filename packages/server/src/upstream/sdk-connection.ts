import { GatehouseError } from '@gatehouse/contract'
import {
  Client,
  InsufficientScopeError,
  type Progress,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Tool,
  type Transport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { z } from 'zod'
import { visibleText } from '../domain/upstream/visible-text.ts'
import type {
  UpstreamAnswer,
  UpstreamCall,
  UpstreamConnection,
  UpstreamIdentity,
  WireTool,
} from '../ports/upstream.ts'
import { type FeatureTool, featureTools } from './feature-tools.ts'

const toolsMax = 1_000
const pagesMax = 50
const listBytesMax = 8 * 1024 * 1024
const detailMax = 500

const ToolPage = z.looseObject({
  tools: z.array(z.looseObject({ name: z.string().min(1).max(256) })),
  nextCursor: z.string().optional(),
})

const Answer = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
  isError: z.boolean().optional(),
})

type RequestOptions = NonNullable<Parameters<Client['request']>[2]> & {
  readonly signal: AbortSignal
}

const isMirroring = ({ inputSchema }: WireTool): boolean =>
  JSON.stringify(inputSchema)?.includes('"x-mcp-header"') ?? false

export type Opening = {
  readonly name: string
  readonly version: string
  readonly transport: Transport
  readonly mode: VersionNegotiationMode
  readonly connectMs: number
  /** Why the transport is closed, where it knows. */
  readonly reason: () => string | null
  /** Sentences that may tell more about a failure. */
  readonly heard: () => readonly string[]
  readonly hostsRefused: () => readonly string[]
  readonly dispose: () => Promise<void>
}

const said: Readonly<Partial<Record<SdkErrorCode, string>>> = {
  [SdkErrorCode.RequestTimeout]: 'it did not answer in time',
  [SdkErrorCode.ConnectionClosed]: 'it closed the connection',
  [SdkErrorCode.InvalidResult]: 'its answer has not the form that the protocol asks for',
  [SdkErrorCode.UnsupportedResultType]: 'it asks for something that only a person could answer',
  [SdkErrorCode.EraNegotiationFailed]: 'it speaks no version of the protocol that is known here',
  [SdkErrorCode.ClientHttpAuthentication]: 'it does not take the credentials',
}

/** The server's own error in its words; of everything else what kind of failure it is. */
const textOf = (cause: unknown): string => {
  if (cause instanceof ProtocolError) {
    const { code, message } = cause
    return `it answered with error ${code}: ${visibleText(message, detailMax)}`
  }
  if (cause instanceof SdkHttpError) return `it answered with status ${cause.status}`
  if (cause instanceof InsufficientScopeError) return 'its login does not reach that far'
  const code = cause instanceof SdkError ? said[cause.code] : undefined
  return code ?? 'the connection failed'
}

/** A connection over the official client. */
export class SdkConnection implements UpstreamConnection {
  readonly closed: Promise<string>
  readonly #opening: Opening
  readonly #client: Client
  readonly #listeners = new Set<() => void>()
  /** By their names, since the tools were last listed. */
  #features: ReadonlyMap<string, FeatureTool> = new Map()
  /** Definitions of tools that want an argument in a header, too. */
  #mirroring: ReadonlyMap<string, WireTool> = new Map()
  #end: (reason: string) => void = () => {}

  private constructor(opening: Opening) {
    this.#opening = opening
    this.closed = new Promise((resolve) => {
      this.#end = resolve
    })
    const onChanged = () => {
      for (const listener of this.#listeners) listener()
    }
    // Nothing that a server could ask of a model or a person is declared: it is refused by the protocol itself.
    this.#client = new Client(
      { name: 'gatehouse', title: 'Gatehouse', version: opening.version },
      {
        capabilities: {},
        versionNegotiation: { mode: opening.mode },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
      },
    )
    this.#client.onclose = () => {
      this.#end(this.#reason() ?? 'the server closed the connection')
    }
    // What makes no sense is dropped: it is no answer to anything.
    this.#client.onerror = () => {}
  }

  /** Raises `UpstreamFailed`. */
  static async open(opening: Opening, signal: AbortSignal): Promise<SdkConnection> {
    const connection = new SdkConnection(opening)
    try {
      await connection.#client.connect(opening.transport, { signal, timeout: opening.connectMs })
      return connection
    } catch (cause) {
      const failure = connection.#failure(cause, signal)
      await connection.close()
      throw failure
    }
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
    this.#mirroring = new Map(
      own
        .filter(isMirroring)
        .map(({ name, inputSchema }) => [name, { name, inputSchema: inputSchema ?? {} }] as const),
    )
    const features = featureTools(offers, own)
    this.#features = new Map(features.map((feature) => [feature.tool.name, feature]))
    return [...own, ...features.map(({ tool }) => tool)]
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
    const { tool, signal, timeout_ms } = call
    const options = {
      signal,
      timeout: timeout_ms,
      maxTotalTimeout: timeout_ms,
      onprogress: ({ progress, total, message }: Progress) =>
        call.progress(progress, total, message),
    }
    const feature = this.#features.get(tool)
    try {
      if (feature)
        return feature.answer(
          await this.#request(feature.method, call.arguments, z.looseObject({}), options),
        )
      return await this.#callOwnTool({ name: tool, arguments: call.arguments }, options)
    } catch (failure) {
      // It did answer, and what it says of the call is for whoever made it.
      const cause = failure instanceof GatehouseError ? failure.cause : null
      if (!(cause instanceof ProtocolError)) throw failure
      const { code } = cause
      // These say of a prompt or a resource that there is none, or that it lacks an argument.
      if (feature && (code === -32602 || code === -32002))
        throw new GatehouseError('InvalidArguments', {
          capability: `${this.#opening.name}.${tool}`,
          detail: visibleText(cause.message, detailMax),
        })
      const detail = `${tool} of ${this.#opening.name} failed with code ${code}: ${visibleText(cause.message, detailMax)}`
      throw new GatehouseError('UpstreamToolFailed', { detail }, { cause })
    }
  }

  async #callOwnTool(
    params: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
    options: RequestOptions,
  ): Promise<UpstreamAnswer> {
    const mirroring = this.#mirroring.get(params.name)
    if (!mirroring)
      return (await this.#request(
        'tools/call',
        params,
        Answer,
        options,
      )) as unknown as UpstreamAnswer
    try {
      const toolDefinition = mirroring as unknown as Tool
      const answer = await this.#client.callTool(params, { ...options, toolDefinition })
      return Answer.parse(answer) as unknown as UpstreamAnswer
    } catch (cause) {
      throw this.#failure(cause, options.signal)
    }
  }

  onToolsChanged(listener: () => void): void {
    this.#listeners.add(listener)
  }

  hostsRefused(): readonly string[] {
    return this.#opening.hostsRefused()
  }

  async close(): Promise<void> {
    await this.#client.close().catch(() => {})
    // A client that never connected closes nothing.
    await this.#opening.transport.close().catch(() => {})
    await this.#opening.dispose()
    this.#end(this.#reason() ?? 'it was closed')
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
    if (cause instanceof GatehouseError) return cause
    const inner = (cause as { readonly cause?: unknown }).cause
    if (inner instanceof GatehouseError) return this.#failed(inner.message, cause)
    return this.#failed(this.#reason() ?? textOf(cause), cause)
  }
}
