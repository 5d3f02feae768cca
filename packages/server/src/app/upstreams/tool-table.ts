import { GatehouseError } from '@gatehouse/contract'
import {
  type FeatureMethod,
  featureDefinitions,
  featureMethods,
} from '../../domain/upstream/features.ts'
import {
  type Accepted,
  type ComparedTool,
  compareTools,
  type PinRules,
  type Seen,
} from '../../domain/upstream/pins.ts'
import { fittedAction } from '../../domain/upstream/tool-names.ts'
import type { Capability, ChangingRegistry } from '../../ports/capability.ts'
import type { Digest } from '../../ports/digest.ts'
import type { FilesFactory } from '../../ports/files.ts'
import type { UpstreamHost, UpstreamSchemas, WireTool } from '../../ports/upstream.ts'
import type { UpstreamRecord } from './stored.ts'
import { type CallUpstream, toolCapability } from './tool-capability.ts'

export type ToolTableDeps = {
  readonly registry: ChangingRegistry
  readonly digest: Digest
  readonly host: Pick<UpstreamHost, 'schemas'>
  readonly call: CallUpstream
  readonly files: Pick<FilesFactory, 'note'>
}

type Offered = { readonly record: UpstreamRecord; readonly compared: readonly ComparedTool[] }

type ByTool = ReadonlyMap<string, ComparedTool>

/** A server as it is offered, with what stands behind each of its capabilities. */
type Known = Offered & {
  readonly byTool: ByTool
  readonly byCapability: ReadonlyMap<string, ComparedTool & { readonly capability: string }>
}

/** Tools of one connection, and what else it shows: looked at once for each list. */
export type LiveTools = { readonly tools: Seen['tools']; readonly seen: () => Seen }

/** Tools of one connection, beside those that were accepted when they were last compared. */
type ComparedLive = { readonly accepted: Accepted; readonly byTool: ByTool }

const byToolOf = (compared: readonly ComparedTool[]): ByTool =>
  new Map(compared.map((one) => [one.tool, one]))

/** Why a tool in this state is out of service; null where it is offered. */
const reasonOf = (one: ComparedTool | undefined): string | null => {
  if (one === undefined || one.state === 'vanished') return 'the server does not have it any more'
  if (one.state === 'offered') return null
  if (one.state === 'declined') return 'a person has declined what the server changed of it'
  return one.problem ?? 'the server describes it otherwise than when it was accepted'
}

const nameOf = (group: string, tool: string): string | null => {
  const action = fittedAction(tool)
  return action === null ? null : `${group}.${action}`
}

/** The tools of all servers as capabilities, and which of them are out of service. */
export class ToolTable {
  readonly #deps: ToolTableDeps
  /** Names of capabilities that wait for a person, by server. */
  readonly #waiting = new Map<string, readonly string[]>()
  /** Each server as it is offered here. */
  readonly #offered = new Map<string, Known>()
  /** When each server that is gone for good was added: nothing that was stored of it before offers it again. */
  readonly #removed = new Map<string, number>()
  /** By the list of tools that a connection has: another list is another object. */
  readonly #live = new WeakMap<Seen['tools'], ComparedLive>()
  readonly #listeners = new Set<() => void>()
  /** A definition is hashed once: the same object is compared with each call. */
  readonly #hashes = new WeakMap<object, string>()
  #schemas: UpstreamSchemas | null = null

  constructor(deps: ToolTableDeps) {
    this.#deps = deps
  }

  /** Capabilities that no call passes now: listings leave them out. */
  lacking(): readonly string[] {
    return [...this.#waiting.values()].flat()
  }

  /** The server as it is offered here. Raises `UpstreamNotFound`. */
  find(name: string): UpstreamRecord {
    const offered = this.#offered.get(name)
    if (!offered) throw new GatehouseError('UpstreamNotFound', { upstream: name })
    return offered.record
  }

  /** State of a server when it was last asked; null where it is not known or never answered. */
  seen(name: string): UpstreamRecord['seen'] {
    return this.#offered.get(name)?.record.seen ?? null
  }

  /** Raises what a call of the capability would, where its tool is known to be out of service; returns its server. */
  assertInService({ group, name }: Pick<Capability, 'group' | 'name'>): UpstreamRecord {
    const record = this.find(group)
    const tool = this.#toolOf(group, name)
    const detail = this.outOfService(group, tool)
    if (detail === null) return record
    throw new GatehouseError('UpstreamNotReviewed', { upstream: group, tool, detail })
  }

  /** Whether calls of the capability pass, as far as its server is known here. */
  isInService(server: string, capability: string): boolean {
    return this.outOfService(server, this.#toolOf(server, capability)) === null
  }

  /** The server's own name for it. */
  #toolOf(server: string, capability: string): string {
    return this.#offered.get(server)?.byCapability.get(capability)?.tool ?? capability
  }

  /** All servers as they are offered here. */
  offered(): readonly Offered[] {
    return [...this.#offered.values()]
  }

  hash(definition: object): string {
    const { digest } = this.#deps
    const known = this.#hashes.get(definition)
    if (known !== undefined) return known
    const hash = `sha256:${digest.sha256(digest.canonical(definition))}`
    this.#hashes.set(definition, hash)
    return hash
  }

  /**
   * Why no call of a tool may pass now; null where it is in service. With what a connection has: over that one.
   * @SECURITY By the comparison that listings go by, so that calls end when listings do; upstream/pinning.test.ts.
   */
  outOfService(name: string, tool: string, live?: LiveTools): string | null {
    const offered = this.#offered.get(name)
    if (!offered) return 'the server was removed'
    const reason = reasonOf(offered.byTool.get(tool))
    if (reason !== null || live === undefined) return reason
    return reasonOf(this.#compareLive(offered.record, live).get(tool))
  }

  #compareLive({ name, accepted }: UpstreamRecord, { tools, seen }: LiveTools): ByTool {
    const known = this.#live.get(tools)
    if (known?.accepted === accepted) return known.byTool
    const rules = this.#schemas && this.#rulesBy(this.#schemas, name)
    const byTool = byToolOf(rules ? compareTools(rules, accepted, seen()) : [])
    this.#live.set(tools, { accepted, byTool })
    return byTool
  }

  /** Calls the listener whenever another set of tools is out of service. */
  subscribe(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  async rules(group: string): Promise<PinRules> {
    return this.#rulesBy((this.#schemas ??= await this.#deps.host.schemas()), group)
  }

  #rulesBy(schemas: UpstreamSchemas, group: string): PinRules {
    return {
      group,
      hash: (definition) => this.hash(definition),
      problemOf: ({ inputSchema }) => {
        if (typeof inputSchema !== 'object' || inputSchema === null || Array.isArray(inputSchema))
          return 'it has no schema of its arguments'
        const compiled = schemas.compile(inputSchema as never)
        return compiled.kind === 'unusable' ? compiled.problem : null
      },
    }
  }

  async compare(record: UpstreamRecord): Promise<readonly ComparedTool[]> {
    return compareTools(await this.rules(record.name), record.accepted, record.seen)
  }

  /** Raises `Conflict` where a group of that name is Gatehouse's own. */
  assertFree(name: string): void {
    const taken = this.#ownOf(name)
    if (taken)
      throw new GatehouseError(
        'Conflict',
        {
          detail: `${name} is the name of a group of Gatehouse's own tools, such as ${taken.name}: choose another name.`,
        },
        {
          recovery: [
            { action: 'choose another name', description: `Add it as my-${name}, for example.` },
          ],
        },
      )
  }

  #ownOf(group: string): Capability | undefined {
    return this.#deps.registry
      .list()
      .find((capability) => capability.group === group && capability.origin === 'own')
  }

  /** Offers a server that was just added: it is another one than whatever had its name. */
  admit(record: UpstreamRecord): Promise<readonly ComparedTool[]> {
    if (this.#removed.get(record.name) === record.added_ms) this.#removed.delete(record.name)
    return this.offer(record)
  }

  /** Whether it is no more, or has changed since. */
  #isPast({ name, added_ms, change_number }: UpstreamRecord): boolean {
    if (this.#removed.get(name) === added_ms) return true
    const known = this.#offered.get(name)?.record
    return known?.added_ms === added_ms && change_number < known.change_number
  }

  /**
   * Puts what is accepted of a server into the registry, in place of what was there of it. A record that is past, since
   * it was read or stored before another, changes nothing.
   * @SECURITY Whatever the server lists and whatever the store holds, it takes no place of our own and keeps no start
   * from succeeding; tool-table.test.ts.
   */
  async offer(record: UpstreamRecord): Promise<readonly ComparedTool[]> {
    const compared = await this.compare(record)
    // In the turn that takes it in: others are offered while this one is compared.
    if (this.#isPast(record)) return compared
    const { name, config } = record
    this.#deps.files.note('upstream', { name, mounts: config.grants.folders })
    const byName = new Map<string, ComparedTool & { readonly capability: string }>()
    for (const one of compared) {
      // An accepted tool stays known while it is out of service, so that rules and calls of it mean something.
      const capability = one.capability ?? nameOf(name, one.tool)
      if (one.accepted === null || capability === null) continue
      if (one.state === 'offered' || !byName.has(capability))
        byName.set(capability, { ...one, capability })
    }
    const known = [...byName.values()]
    const byTool = byToolOf(compared)
    this.#offered.set(name, { record, compared, byTool, byCapability: byName })
    this.#waiting.set(
      name,
      known.filter(({ state }) => state !== 'offered').map(({ capability }) => capability),
    )
    if (!this.#ownOf(name))
      this.#deps.registry.replaceGroup(
        name,
        known.flatMap((one) => this.#capabilityOf(record, one)),
      )
    for (const listener of this.#listeners) listener()
    return compared
  }

  /**
   * Takes in what another node has changed, and returns the names of servers that are gone. `before`: what was offered when the
   * records were read; a server that came since is in none of them.
   * @SECURITY One that was added anew under its name is another server, whose changes count from 1 again; two-nodes.test.ts.
   */
  async follow(
    records: readonly UpstreamRecord[],
    before: readonly Offered[] = this.offered(),
  ): Promise<readonly string[]> {
    const stored = new Map(records.map((record) => [record.name, record]))
    const gone = before
      .map(({ record }) => record)
      .filter(({ name, added_ms }) => stored.get(name)?.added_ms !== added_ms)
    for (const record of gone) this.remove(record)
    for (const record of records)
      if (this.#offered.get(record.name)?.record.change_number !== record.change_number)
        await this.offer(record)
    return gone.map(({ name }) => name)
  }

  /** Withdraws a server that is gone for good. */
  remove({ name, added_ms }: UpstreamRecord): void {
    this.#removed.set(name, added_ms)
    const offered = this.#offered.get(name)
    if (!offered || offered.record.added_ms === added_ms) this.withdraw(name)
  }

  withdraw(name: string): void {
    this.#offered.delete(name)
    this.#waiting.delete(name)
    if (!this.#ownOf(name)) this.#deps.registry.replaceGroup(name, [])
    for (const listener of this.#listeners) listener()
  }

  /** A server that describes a tool in exactly these words answers for it, too. */
  #methodOf(hash: string): FeatureMethod | undefined {
    return featureMethods.find((method) => this.hash(featureDefinitions[method]) === hash)
  }

  #capabilityOf(
    { name, config }: UpstreamRecord,
    { accepted, capability }: ComparedTool & { readonly capability: string },
  ): Capability[] {
    if (accepted === null || this.#schemas === null) return []
    const { digest, call } = this.#deps
    const definition = accepted.definition as WireTool
    const { hash } = accepted
    const definition_hash = `sha256:${digest.sha256(digest.canonical({ config, definition }))}`
    const method = this.#methodOf(hash)
    const given = { upstream: name, capability, hash, definition_hash, definition, method }
    return [toolCapability(given, this.#schemas, call)]
  }
}
