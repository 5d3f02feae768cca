import { GatehouseError } from '@gatehouse/contract'
import type { FeatureList, FeatureMethod } from '../../domain/upstream/features.ts'
import { visibleText } from '../../domain/upstream/visible-text.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Ids } from '../../ports/ids.ts'
import {
  type Invoke,
  type InvokeOutcome,
  type ListedCapability,
  upstreamKey,
} from '../call/invoke.ts'
import type { AgentOp } from '../call/op.ts'
import { TimeUp, within } from '../call/within.ts'

type Members = Readonly<Record<string, unknown>>

/** Lists beside that of the tools, of which a client is told that they have changed. */
export type ChangingLists = readonly FeatureList[]

/** Features for clients that use more of MCP than its tools. */
export type OfferedFeatures = {
  readonly prompts: boolean
  readonly resources: boolean
  /** Changes of resources. */
  readonly subscriptions: boolean
  readonly changingLists: ChangingLists
  readonly completions: boolean
  /** Log messages of servers, while a tool of theirs is called. */
  readonly logging: boolean
}

export type ListMethod = Extract<FeatureMethod, `${string}/list`>

export type UseFeature =
  | { readonly method: 'prompts/get'; readonly name: string; readonly arguments: unknown }
  | { readonly method: 'resources/read'; readonly uri: string }
  | {
      readonly method: 'completion/complete'
      readonly ref: Members
      readonly argument: unknown
      readonly context: unknown
    }

export type FeatureOutcome =
  | Exclude<InvokeOutcome, { readonly kind: 'succeeded' }>
  /** No server of that name offers this to the agent. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'answered'; readonly result: Members }

/**
 * Prompts, resources and completions of upstream servers for the client of an agent. They are tools of their server:
 * each listing and each use of one is a call of that tool, and passes the gate.
 */
export interface FeatureUseCases {
  offeredFeatures(op: AgentOp): Promise<OfferedFeatures>
  /** Of all servers that may be asked without a person. A server that fails is left out: its call is in the log. */
  listFeatures(op: AgentOp, input: { readonly method: ListMethod }): Promise<readonly Members[]>
  useFeature(op: AgentOp, input: UseFeature): Promise<FeatureOutcome>
}

export type FeatureDeps = {
  readonly clock: Clock
  readonly ids: Ids
  readonly invoke: Invoke
  listCapabilities(op: AgentOp, input: object): Promise<readonly ListedCapability[]>
  /** Whether a server tells of changes of its resources. */
  readonly tellsChanges: (server: string) => boolean
  /** Lists of which a server tells that they have changed. */
  readonly changingLists: (server: string) => ChangingLists
}

/** Clients list what there is before they do anything else: one server must not keep them waiting for long. */
const listSeconds = 15
const pagesMax = 10
const itemsMax = 1_000
const titleMax = 200
const descriptionMax = 4_000
const textMax = 2_000

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// Names and addresses. Those of two servers are never the same, and each says whose it is.

const promptName = (server: string, name: string): string => `${server}__${name}`
const scheme = 'upstream://'
const resourceUri = (server: string, uri: string): string => `${scheme}${server}/${uri}`

type Named = { readonly server: string; readonly inner: string }

const cut = (text: string, mark: string): Named | null => {
  const at = text.indexOf(mark)
  return at < 0 ? null : { server: text.slice(0, at), inner: text.slice(at + mark.length) }
}

const promptOf = (name: string): Named | null => cut(name, '__')
export const resourceOf = (uri: string): Named | null =>
  uri.startsWith(scheme) ? cut(uri.slice(scheme.length), '/') : null

// Shown fields of an entry: those that clients know, in texts that hide nothing.

const textAt = (from: Members, key: string, max: number): Members => {
  const text = from[key]
  return typeof text === 'string' ? { [key]: visibleText(text, max) } : {}
}

const told = (from: Members): Members => ({
  ...textAt(from, 'title', titleMax),
  ...textAt(from, 'description', descriptionMax),
})

const argumentsOf = (given: unknown): Members =>
  Array.isArray(given)
    ? {
        arguments: given
          .filter((one): one is Members => isMembers(one) && typeof one['name'] === 'string')
          .map((one) => ({
            ...textAt(one, 'name', textMax),
            ...told(one),
            ...(typeof one['required'] === 'boolean' ? { required: one['required'] } : {}),
          })),
      }
    : {}

type Show = (server: string, item: Members) => Members | null

const showPrompt: Show = (server, item) => {
  const { name } = item
  if (typeof name !== 'string' || name.length > textMax) return null
  return { name: promptName(server, name), ...told(item), ...argumentsOf(item['arguments']) }
}

const showResource =
  (address: 'uri' | 'uriTemplate'): Show =>
  (server, item) => {
    const { [address]: uri, name, size } = item
    if (typeof uri !== 'string' || uri.length > textMax || typeof name !== 'string') return null
    return {
      [address]: resourceUri(server, uri),
      ...textAt(item, 'name', titleMax),
      ...told(item),
      ...textAt(item, 'mimeType', titleMax),
      ...(typeof size === 'number' ? { size } : {}),
    }
  }

const listings: Readonly<
  Record<ListMethod, { readonly member: string; readonly use: FeatureMethod; readonly show: Show }>
> = {
  'prompts/list': { member: 'prompts', use: 'prompts/get', show: showPrompt },
  'resources/list': { member: 'resources', use: 'resources/read', show: showResource('uri') },
  'resources/templates/list': {
    member: 'resourceTemplates',
    use: 'resources/read',
    show: showResource('uriTemplate'),
  },
}

/** Features that an agent may use, by server and method. */
type Offers = ReadonlyMap<string, ReadonlyMap<string, ListedCapability>>

const offersIn = (listed: readonly ListedCapability[]): Offers => {
  const offers = new Map<string, Map<string, ListedCapability>>()
  for (const entry of listed) {
    const { group, method } = entry.capability
    if (method === undefined) continue
    const ofServer = offers.get(group) ?? new Map<string, ListedCapability>()
    offers.set(group, ofServer.set(method, entry))
  }
  return offers
}

/** Clients complete with every key that is pressed, and a person is not asked for that. */
const mayComplete = (ofServer: ReadonlyMap<string, ListedCapability>): boolean =>
  ofServer.get('completion/complete')?.tier === 'autonomous'

type ServerTool = { readonly server: string; readonly capability: string }

/** Servers to ask for a listing: a person is never asked for one, as clients list what there is at their start. */
const listersIn = (offers: Offers, method: ListMethod): readonly ServerTool[] =>
  [...offers].flatMap(([server, ofServer]) => {
    const lister = ofServer.get(method)
    if (lister?.tier !== 'autonomous' || !ofServer.has(listings[method].use)) return []
    return [{ server, capability: lister.capability.name }]
  })

const listMethods: Readonly<Record<FeatureList, readonly ListMethod[]>> = {
  prompts: ['prompts/list'],
  resources: ['resources/list', 'resources/templates/list'],
}

export const featureLists = Object.keys(listMethods) as ChangingLists

/** Listed capabilities by which an agent lists prompts or resources: each is one of a server. */
export const listersOf = (
  listed: readonly ListedCapability[],
  list: FeatureList,
): readonly ListedCapability[] => {
  const offers = offersIn(listed)
  return listMethods[list].flatMap((method) =>
    listersIn(offers, method).flatMap(({ server }) => offers.get(server)?.get(method) ?? []),
  )
}

/** The text of a result that is an object of the protocol. */
const objectIn = (data: Members): Members | null => {
  const [block] = Array.isArray(data['content']) ? (data['content'] as readonly unknown[]) : []
  try {
    const value: unknown = JSON.parse(String(isMembers(block) ? block['text'] : undefined))
    return isMembers(value) ? value : null
  } catch {
    return null
  }
}

const contentsIn = (server: string, data: Members): readonly Members[] =>
  (Array.isArray(data['content']) ? (data['content'] as readonly unknown[]) : [])
    .map((block) => (isMembers(block) ? block['resource'] : undefined))
    .filter(isMembers)
    .map((one) => ({ ...one, uri: resourceUri(server, String(one['uri'])) }))

const resultOf = (server: string, method: UseFeature['method'], data: Members): Members | null => {
  if (method === 'resources/read') return { contents: contentsIn(server, data) }
  const found = objectIn(data)
  if (method === 'completion/complete') {
    const { completion } = found ?? {}
    return isMembers(completion) ? { completion } : null
  }
  const { messages } = found ?? {}
  return Array.isArray(messages)
    ? { ...textAt(found ?? {}, 'description', descriptionMax), messages }
    : null
}

/** Feature that is used, its server, and the arguments of the tool that stands for it. */
const callOf = (input: UseFeature): (Named & { readonly args: Members }) | null => {
  switch (input.method) {
    case 'prompts/get': {
      const named = promptOf(input.name)
      const { arguments: given } = input
      const args = given === undefined ? {} : { arguments: given }
      return named && { ...named, args: { name: named.inner, ...args } }
    }
    case 'resources/read': {
      const named = resourceOf(input.uri)
      return named && { ...named, args: { uri: named.inner } }
    }
    case 'completion/complete': {
      const { ref, argument, context } = input
      const { name, uri } = ref
      const isPrompt = ref['type'] === 'ref/prompt'
      const text = isPrompt ? name : uri
      if (typeof text !== 'string') return null
      const named = isPrompt ? promptOf(text) : resourceOf(text)
      if (!named) return null
      const own = isPrompt ? { name: named.inner } : { uri: named.inner }
      const args = { ref: { ...ref, ...own }, argument }
      return { ...named, args: context === undefined ? args : { ...args, context } }
    }
  }
}

const offersFor = async (op: AgentOp, deps: FeatureDeps): Promise<Offers> =>
  offersIn(await deps.listCapabilities(op, {}))

/** The capability that reads a resource, for an agent that may; null for all others. */
export const readerFor = async (
  op: AgentOp,
  deps: FeatureDeps,
  server: string,
): Promise<string | null> =>
  (await offersFor(op, deps)).get(server)?.get('resources/read')?.capability.name ?? null

export async function useFeature(
  op: AgentOp,
  deps: FeatureDeps,
  input: UseFeature,
): Promise<FeatureOutcome> {
  const called = callOf(input)
  const offers = called && (await offersFor(op, deps)).get(called.server)
  const found = offers?.get(input.method)
  if (!called || !offers || !found) return { kind: 'absent' }
  if (input.method === 'completion/complete' && !mayComplete(offers)) return { kind: 'absent' }
  const { args, server } = called
  const outcome = await deps.invoke(op, {
    capability: found.capability.name,
    arguments: args,
  })
  if (outcome.kind !== 'succeeded') return outcome
  const result = resultOf(server, input.method, outcome.data)
  if (result === null)
    throw new GatehouseError('UpstreamFailed', {
      upstream: server,
      detail: 'its answer has not the form that the protocol asks for',
    })
  return { kind: 'answered', result: { ...result, _meta: { [upstreamKey]: server } } }
}

async function offeredTo(op: AgentOp, deps: FeatureDeps): Promise<OfferedFeatures> {
  const listed = await deps.listCapabilities(op, {})
  const offers = offersIn(listed)
  const withResources = listersIn(offers, 'resources/list')
  const tells = (list: FeatureList) =>
    listersOf(listed, list).some(({ capability: { group } }) =>
      deps.changingLists(group).includes(list),
    )
  return {
    prompts: listersIn(offers, 'prompts/list').length > 0,
    resources: withResources.length > 0,
    subscriptions: withResources.some(({ server }) => deps.tellsChanges(server)),
    changingLists: featureLists.filter(tells),
    completions: [...offers.values()].some((ofServer) => mayComplete(ofServer)),
    logging: listed.some(({ capability }) => capability.origin === 'upstream'),
  }
}

export function bindFeatures(deps: FeatureDeps): { readonly useCases: FeatureUseCases } {
  const listOf = async (
    op: AgentOp,
    signal: AbortSignal,
    method: ListMethod,
    { server, capability }: ServerTool,
  ): Promise<readonly Members[]> => {
    const { member, show } = listings[method]
    const { actor, session_id, gone, held } = op
    const who = { actor, session_id, signal, gone, ...(held ? { held } : {}) }
    const items: Members[] = []
    let cursor: string | undefined
    for (let page = 0; page < pagesMax && items.length < itemsMax; page += 1) {
      const outcome = await deps.invoke(
        { ...who, request_id: deps.ids.next('req') },
        { capability, arguments: cursor === undefined ? {} : { cursor } },
      )
      const found = outcome.kind === 'succeeded' ? objectIn(outcome.data) : null
      if (found === null) break
      const { [member]: entries, nextCursor } = found
      for (const item of Array.isArray(entries) ? entries : []) {
        const shown = isMembers(item) ? show(server, item) : null
        if (shown) items.push({ ...shown, _meta: { [upstreamKey]: server } })
      }
      if (typeof nextCursor !== 'string') break
      cursor = nextCursor
    }
    return items
  }

  const listIfAnswered = (
    op: AgentOp,
    method: ListMethod,
    lister: ServerTool,
  ): Promise<readonly Members[]> =>
    within(deps.clock, listSeconds, op.signal, (signal) =>
      listOf(op, signal, method, lister),
    ).catch((cause: unknown) => {
      const ofServer = cause instanceof GatehouseError && cause.entry.rpc === null
      if (cause instanceof TimeUp || (ofServer && !op.signal.aborted)) return []
      throw cause
    })

  return {
    useCases: {
      offeredFeatures: (op) => offeredTo(op, deps),
      async listFeatures(op, { method }) {
        const listers = listersIn(await offersFor(op, deps), method)
        const lists = await Promise.all(listers.map((lister) => listIfAnswered(op, method, lister)))
        return lists.flat().slice(0, itemsMax)
      },
      useFeature: (op, input) => useFeature(op, deps, input),
    },
  }
}
