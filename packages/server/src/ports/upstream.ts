import type { Logs, UpstreamGrants, UpstreamServer } from '@gatehouse/contract'
import type { Explained } from '@gatehouse/contract/explain-issue'
import type { Access, CredentialNames } from '../domain/upstream/access.ts'
import type { CertificateIdentity } from '../domain/upstream/certificate.ts'
import type { FeatureList } from '../domain/upstream/features.ts'
import type { JsonObject } from './json.ts'

/** An MCP server behind the gate. Times are ms since 1970 of the wall clock. */
export type StoredUpstream = {
  readonly name: string
  /** `UpstreamConfig`, and the state of its login where there is one. */
  readonly config_json: string
  /** `AcceptedTool[]`: what a person has accepted, which is what agents are offered. */
  readonly accepted_json: string
  /** `SeenTools`: what the server had when it was last asked; null where it never answered. */
  readonly seen_json: string | null
  /** Rises with every change, so that two people do not overwrite each other. */
  readonly change_number: number
  readonly added_ms: number
  readonly seen_ms: number | null
}

export interface UpstreamStore {
  /** Must return all, by name in the order of their bytes. */
  list(): Promise<readonly StoredUpstream[]>

  /** Must return null for an unknown name. */
  find(name: string): Promise<StoredUpstream | null>

  /** Must store it in place of what has that name. Must be durable when the promise resolves (of its transaction, inside one). */
  put(upstream: StoredUpstream): Promise<void>

  /** Must delete it, and say whether it was there. */
  remove(name: string): Promise<boolean>
}

/** How a server is reached, and what is within its reach. */
export type UpstreamConfig = {
  readonly server: UpstreamServer
  readonly grants: UpstreamGrants
  readonly credentials: CredentialNames
  /** The same of agents that have their own, by their names. Not there where none has. */
  readonly agent_credentials?: Readonly<Record<string, CredentialNames>>
  /** Agents without anything of their own are refused. */
  readonly own_only?: true
  readonly per_agent: boolean
}

/** A tool as the server lists it, nothing left out. */
export type WireTool = JsonObject & { readonly name: string }

export type UpstreamIdentity = {
  readonly name: string
  readonly version: string
  readonly protocol: string
}

/** Result of a call: the result object of MCP, nothing left out. */
export type UpstreamAnswer = {
  readonly content: readonly JsonObject[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: JsonObject
}

/** Question of a server to a person, as it came over the wire; whoever shows it checks it. */
export type UpstreamQuestion =
  | { readonly kind: 'form'; readonly message: string; readonly schema: unknown }
  | { readonly kind: 'url'; readonly message: string; readonly url: string }

export type UpstreamReply = {
  readonly action: 'accept' | 'decline' | 'cancel'
  /** The values of an accepted form. */
  readonly content: Readonly<Record<string, string | number | boolean | readonly string[]>> | null
}

export type UpstreamCall = {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** Sent beside the arguments. */
  readonly meta?: Readonly<Record<string, unknown>>
  /** Aborting cancels the call at the server, too. */
  readonly signal: AbortSignal
  readonly timeout_ms: number
  progress(done: number, total?: number, message?: string): void
  /** Told what the server writes to the log of its client meanwhile; absent where nobody reads that. */
  readonly logs?: Logs
  /**
   * Puts a question of the server to a person. `otherCalls`: how many run over the same connection, where the server
   * does not say for which of them it asks. Raises `UpstreamFailed` for a question that cannot be asked.
   */
  ask(question: UpstreamQuestion, otherCalls: number, signal: AbortSignal): Promise<UpstreamReply>
}

/** A call of a tool, as the gate let it through. */
export type ToolCall = {
  readonly upstream: string
  readonly capability: string
  readonly tool: string
  /** Of the definition that was accepted: the server must have it so now. */
  readonly hash: string
  readonly arguments: Readonly<Record<string, unknown>>
}

export type ServerList = 'tools' | FeatureList

/** A list of a server that has changed for an agent; null for all of them. */
export type ChangedList = {
  readonly upstream: string
  readonly agent: string | null
  readonly list: FeatureList
}

/** Hears of the changes of one resource until it is disposed. */
export type ResourceWatch = AsyncDisposable & {
  /** Resolves when the server tells of no more changes, whichever side ended that. Never rejects. */
  readonly ended: Promise<void>
}

/** One open connection. */
export interface UpstreamConnection {
  readonly identity: UpstreamIdentity
  /** Of a server over https; null of all others. */
  readonly certificate: CertificateIdentity | null
  /** Must return the whole list, page by page. Raises `UpstreamFailed` where it is too large or makes no sense. */
  listTools(signal: AbortSignal): Promise<readonly WireTool[]>
  /** Raises `UpstreamFailed`, with the fact `not_taken` where the server has forgotten the connection, and what the signal aborts with. */
  call(call: UpstreamCall): Promise<UpstreamAnswer>
  /** Whether the server knows nothing of it any more, such as after a restart: nothing that is asked over it is taken. */
  readonly isForgotten: boolean
  /** Must call the listener once when that has become so. */
  onForgotten(listener: () => void): void
  /** Whether the server tells of changes of its resources. */
  readonly tellsChanges: boolean
  /**
   * Must call `changed` whenever the server says that the resource of this address, or one below it, has changed.
   * Raises `UpstreamFailed`, and what the signal aborts with.
   */
  watch(uri: string, changed: () => void, signal: AbortSignal): Promise<ResourceWatch>
  /** Lists of which the server tells that they have changed. */
  readonly changingLists: readonly FeatureList[]
  /** Must call the listener whenever the server says that a list has changed, or has not been heard for a while. */
  onListChanged(listener: (list: ServerList) => void): void
  /** Resolves with the reason when it is closed, by whichever side. Never rejects. */
  readonly closed: Promise<string>
  /** Hosts that a stdio server was not let through to, as `host:port`. */
  hostsRefused(): readonly string[]
  /** Must end it, and whatever process stands behind it. */
  close(): Promise<void>
}

export type UpstreamOrder = {
  readonly name: string
  /** The agent that it is for; null for all. */
  readonly agent: string | null
  readonly config: UpstreamConfig
  /** Credential that it is let in with. */
  readonly access: Access
  /** The certificate that a person has accepted; null before. */
  readonly certificate: CertificateIdentity | null
}

export type CompiledSchema =
  | { readonly kind: 'usable'; readonly check: (given: unknown) => readonly Explained[] }
  | { readonly kind: 'unusable'; readonly problem: string }

export interface UpstreamSchemas {
  /** Must bound a schema in size, depth and the time of its check, and compile that when it is first used. */
  compile(schema: JsonObject): CompiledSchema
}

/** Connects to servers. */
export interface UpstreamHost {
  /**
   * Must be ready for calls when it resolves. Raises `UpstreamCertificateChanged`, before anything was sent and with
   * what was found as the fact `certificate`, where another one was accepted. Raises `UpstreamFailed`,
   * `UpstreamNeedsLogin`, `SandboxUnavailable`, `SecretNotAllowed`.
   */
  connect(order: UpstreamOrder, signal: AbortSignal): Promise<UpstreamConnection>
  /** Must delete the folders that the processes of a server had for themselves. */
  forget(name: string): Promise<void>
  /** The checks of arguments against schemas that servers sent. */
  schemas(): Promise<UpstreamSchemas>
}
