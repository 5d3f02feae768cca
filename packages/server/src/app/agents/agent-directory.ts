import { GatehouseError } from '@gatehouse/contract'
import type { AgentStore, StoredAgent } from '../../ports/agents.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Digest } from '../../ports/digest.ts'
import type { FilesFactory } from '../../ports/files.ts'

const tokenForm = /^[0-9a-f]{64}$/

/** Credential that was shown: 48 bits of its hash, enough to tell an agent's few tokens apart. */
const credentialOf = (hash: string): number => Number.parseInt(hash.slice(0, 12), 16)

/** An agent and the credential it came with, which every later message on the connection must still match. */
export type AuthenticatedAgent = StoredAgent & { readonly credential: number }

/** Refusal of who came with a credential that has ended since. */
export const credentialEnded = (): GatehouseError =>
  new GatehouseError('AuthenticationFailed', { detail: 'this token is no longer valid' })

/** Whether the credential is still valid for the agent as this record has it. */
export const isHolder = (agent: StoredAgent, credential: number, nowMs: number): boolean => {
  if (agent.status === 'revoked') return false
  if (credentialOf(agent.token_hash) === credential) return true
  const { previous_token_hash: previous, previous_until_ms: until } = agent
  return previous !== null && credentialOf(previous) === credential && (until ?? 0) > nowMs
}

/**
 * The agents this process has met, by name and by token hash, so that a call costs a map lookup.
 * Whoever changes an agent says so with `changed`; `reload` is for changes made by another node.
 */
export class AgentDirectory {
  readonly #store: AgentStore
  readonly #digest: Digest
  readonly #clock: Clock
  readonly #files: Pick<FilesFactory, 'note'>
  readonly #byName = new Map<string, StoredAgent>()
  readonly #byHash = new Map<string, AuthenticatedAgent>()
  readonly #listeners = new Set<(agent: string) => void>()
  /** Grows with each change, so that a look-up that began earlier does not bring the old record back. */
  #epoch = 0
  /** Up to where changes of other nodes are known. */
  #place = 0

  constructor(deps: {
    storage: { readonly agents: AgentStore }
    digest: Digest
    clock: Clock
    files: Pick<FilesFactory, 'note'>
  }) {
    this.#files = deps.files
    this.#store = deps.storage.agents
    this.#digest = deps.digest
    this.#clock = deps.clock
  }

  /** The agent of a token, or null. Only the hash is looked up, so timing tells nothing of stored tokens. */
  async authenticate(token: string): Promise<AuthenticatedAgent | null> {
    if (!tokenForm.test(token)) return null
    const hash = this.#digest.sha256(token)
    const known = this.#byHash.get(hash)
    if (known) return this.#stillAdmits(known, hash) ? known : null
    const found = await this.#lookUp(() => this.#store.findByTokenHash(hash))
    if (!found) return null
    const authenticated = { ...found, credential: credentialOf(hash) }
    if (this.#byName.get(found.name) === found) this.#byHash.set(hash, authenticated)
    return this.#admits(found, hash) ? authenticated : null
  }

  async find(name: string): Promise<StoredAgent | null> {
    const known = this.#byName.get(name)
    if (known) return known
    return this.#lookUp(() => this.#store.find(name))
  }

  /**
   * The agent as it stands, with its own credential of now, for a call that the service makes in its name;
   * null for an unknown or revoked one. The credential ends like any other: with rotation and revocation.
   */
  async standIn(name: string): Promise<AuthenticatedAgent | null> {
    const agent = await this.find(name)
    if (!agent || agent.status === 'revoked') return null
    return { ...agent, credential: credentialOf(agent.token_hash) }
  }

  /**
   * The record, if the credential is still valid.
   * @SECURITY Rotation and revocation reach open connections here; agent-directory.test.ts, and test/first-minutes.test.ts.
   */
  holder(name: string, credential: number): StoredAgent | null {
    const agent = this.#byName.get(name)
    return agent && isHolder(agent, credential, this.#clock.now()) ? agent : null
  }

  /** Takes over a change, unless a later one is known: that of another node may be told before this process knows that its own stands. */
  changed(agent: StoredAgent): void {
    const before = this.#byName.get(agent.name)
    if (before && before.generation > agent.generation) return
    this.#epoch += 1
    this.#files.note('agent', agent)
    for (const [hash, known] of this.#byHash)
      if (known.name === agent.name) this.#byHash.delete(hash)
    this.#byName.set(agent.name, agent)
    for (const listener of [...this.#listeners]) listener(agent.name)
  }

  /** Calls the listener after an agent that is known here was changed, by whichever node. */
  onChange(listener: (agent: string) => void): Disposable {
    const own = (agent: string) => listener(agent)
    this.#listeners.add(own)
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) }
  }

  /** Takes over what changed since the last time, in one query: another node may have changed agents known here. First all. */
  async reload(): Promise<void> {
    const { agents, place } = await this.#store.changedSince(this.#place)
    // Also for those that are not known: a look-up of one may be under way.
    if (agents.length > 0) this.#epoch += 1
    for (const agent of agents) {
      const known = this.#byName.get(agent.name)
      // A change by this process may have come after the rows were read.
      if (!known) this.#files.note('agent', agent)
      else if (agent.generation > known.generation) this.changed(agent)
    }
    this.#place = Math.max(this.#place, place)
  }

  /**
   * Result of `work`, which changes agents. It may have changed them also where it throws: a change that the store has
   * committed and the audit log could not take stands, and is taken over here.
   */
  async changing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      await this.reload().catch(() => undefined)
      throw cause
    }
  }

  /** The agent as it is once no change came while the store answered: only such a record is kept, and a call finds no other. */
  async #lookUp(look: () => Promise<StoredAgent | null>): Promise<StoredAgent | null> {
    for (;;) {
      const epoch = this.#epoch
      const found = await look()
      if (epoch !== this.#epoch) continue
      return found && this.#take(found)
    }
  }

  #take(found: StoredAgent): StoredAgent {
    const known = this.#byName.get(found.name)
    // Another node changed it, and that is not told here yet.
    if (known && found.generation > known.generation) this.changed(found)
    if (known) return this.#byName.get(found.name) ?? found
    this.#files.note('agent', found)
    this.#byName.set(found.name, found)
    return found
  }

  /** Of a record that this hash led to: it changes only by way of `changed`, which forgets the hash. */
  #stillAdmits(agent: StoredAgent, hash: string): boolean {
    if (agent.status === 'revoked') return false
    return (
      agent.token_hash === hash || (agent.previous_token_hash === hash && this.#admits(agent, hash))
    )
  }

  #admits(agent: StoredAgent, hash: string): boolean {
    if (agent.status === 'revoked') return false
    if (this.#digest.equal(agent.token_hash, hash)) return true
    return (
      agent.previous_token_hash !== null &&
      this.#digest.equal(agent.previous_token_hash, hash) &&
      (agent.previous_until_ms ?? 0) > this.#clock.now()
    )
  }
}
