import { GatehouseError } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import { mergeFiles, type PolicyMerge, type PolicyTexts } from '../../domain/policy/merge-files.ts'
import type { Gates } from '../../ports/gates.ts'
import type { PolicyFiles } from '../../ports/policy.ts'
import type { PolicyBase, PolicyShare } from '../../ports/policy-share.ts'
import type { MetaStore } from '../../ports/storage.ts'
import { askOthers } from '../call/ask-gates.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { systemOp } from '../call/op.ts'
import { PollLoop } from '../call/poll-loop.ts'

export type SharedPolicyDeps = Basics & {
  readonly node: string
  readonly policy: PolicyFiles
  readonly policyShare: PolicyShare
  readonly gates: Gates | null
  readonly signal: AbortSignal
}

/** Policy of the installation, as it is in the store. */
type Shared = {
  readonly version: number
  /** Person or token that made the change, or the files of a node where they changed on its disk. */
  readonly author: string
  readonly node: string
  readonly files: PolicyTexts
}
type Stored = Shared & { readonly mac: string; readonly text: string; readonly isGenuine: boolean }

const metaKey = 'policy'
const lookEveryMs = 5_000
const neverShared: PolicyBase = { store: '', version: 0, mac: '', files: {} }

const keyRemedy = [
  {
    action: 'gatehouse join',
    description: 'Begin the node with a token of `gatehouse nodes invite`, which brings the key.',
  },
  {
    action: 'copy policy.key',
    description: 'Or copy it from the data directory of a node that serves, mode 600.',
  },
]

/**
 * One policy on all nodes. Files stay the way to edit it: what changes in the files of one node becomes the next version in the
 * store, and what others stored is written to the files here. The row is authenticated with a key that the database does not
 * have, and an older version than this node had is refused: whoever can write to the database cannot loosen policy.
 */
export class SharedPolicy {
  readonly #deps: SharedPolicyDeps
  readonly #following: PollLoop
  #fault: string | null = null
  #turn: Promise<unknown> = Promise.resolve()
  #watch: Disposable | null = null

  constructor(deps: SharedPolicyDeps) {
    this.#deps = deps
    this.#following = new PollLoop(deps, {
      name: 'sharing the policy with the other nodes',
      everyMs: lookEveryMs,
      follows: ['policy'],
      look: async () => {
        await this.#inTurn(() => this.#sync(this.#ofFiles()))
      },
    })
  }

  /** Must have ended before the node serves: it then decides as the others do. Raises `NodeUnfit` without their key. */
  async enter(): Promise<void> {
    const { storage, policyShare } = this.#deps
    if (!storage.isNetworked) return
    const known = await storage.meta.get(metaKey)
    if (known !== null && policyShare.key() === null) this.#refuse('it has no policy.key')
    if (policyShare.key() === null) policyShare.createKey()
    await this.#inTurn(() => this.#sync(this.#ofFiles()))
    // Of two first nodes at once, one has a key that the other does not know.
    const stored = await this.#read(storage.meta)
    if (stored && !stored.isGenuine)
      this.#refuse('its policy.key is not the one that the shared policy was written with')
  }

  start(): void {
    if (!this.#deps.storage.isNetworked) return
    this.#watch = this.#deps.policy.onChange(() => this.#following.nudge())
    this.#following.start()
  }

  async stopped(): Promise<void> {
    this.#watch?.[Symbol.dispose]()
    await this.#following.stopped()
    await this.#turn
  }

  /** Why this node may decide by another policy than the others; null where it does not. */
  fault(): string | null {
    return this.#fault
  }

  /**
   * Runs a change of the files, upon what the other nodes have, and resolves when it is in the store. Raises `Conflict` where
   * another node changed the same file meanwhile.
   */
  async change<T>(author: string, work: () => Promise<T>): Promise<T> {
    const result = await this.#changeHere(author, work)
    // The other processes of this node read the same files: it holds in all of them when it is answered.
    await askOthers(this.#deps.gates, 'read policy', null)
    return result
  }

  #changeHere<T>(author: string, work: () => Promise<T>): Promise<T> {
    if (!this.#deps.storage.isNetworked) return work()
    return this.#inTurn(async () => {
      await this.#sync(this.#ofFiles())
      const result = await work()
      const overruled = await this.#sync(author)
      if (overruled.length > 0)
        throw new GatehouseError('Conflict', {
          detail: `another node changed ${overruled.join(', ')} at the same time; what you sent is below policies/.previous`,
        })
      return result
    })
  }

  #refuse(why: string): never {
    const detail = `${why}, with which the nodes authenticate the policy that they share`
    throw new GatehouseError('NodeUnfit', { detail }, { recovery: keyRemedy })
  }

  #ofFiles(): string {
    return `the files of ${this.#deps.node}`
  }

  async #read(meta: MetaStore): Promise<Stored | null> {
    const text = await meta.get(metaKey)
    if (text === null) return null
    const at = text.indexOf('\n')
    const [mac, json] = [text.slice(0, at), text.slice(at + 1)]
    // @SECURITY Read only where it holds; anything else in the row is a stranger's; shared-policy.test.ts.
    const ours = this.#macOf(json)
    const isGenuine = ours !== null && this.#deps.digest.equal(mac, ours)
    const nothing: Shared = { version: 0, author: '', node: '', files: {} }
    return {
      ...(isGenuine ? parseStored<Shared>(json, `meta.${metaKey}`) : nothing),
      mac,
      text,
      isGenuine,
    }
  }

  /** Of the row of this store alone; null while the key is gone, with which nothing is genuine. */
  #macOf(json: string): string | null {
    const { digest, storage, policyShare } = this.#deps
    const key = policyShare.key()
    return key && digest.hmac(key, `gatehouse policy\n${storage.id}\n${json}`)
  }

  /**
   * Brings both to the same; returns the files where the others' text took the place of one that was changed here. Where another
   * node stores its version first, it begins again upon that one: the answer then says what became of the change.
   */
  async #sync(author: string): Promise<readonly string[]> {
    const { storage, policyShare, policy, digest } = this.#deps
    const kept = policyShare.base()
    const base = kept?.store === storage.id ? kept : neverShared
    const stored = await this.#read(storage.meta)
    this.#fault = faultOf(stored, base)
    const own = policy.texts()
    if (!stored || this.#fault !== null) {
      // A node that never was one of them has nothing to say against what they share.
      if (base.version === 0 ? stored !== null : !this.#isChanged(own, base)) return []
      // Rules of an invalid file are not known, and leaving it out would take them away from the others.
      if (own.unknown.length > 0)
        this.#fault = `${own.unknown.join(', ')} is not valid, so nothing is shared`
      else if (!(await this.#share({ author, files: own.texts }, stored, base)))
        return this.#sync(author)
      return []
    }
    const merge = mergeFiles({
      base: base.files,
      own: own.texts,
      unknown: own.unknown,
      shared: stored.files,
      digestOf: digest.sha256,
    })
    if (merge.changes.size > 0) await this.#follow(stored, merge)
    // Before it is shared: what was taken from the others is no change of this node in the next round.
    this.#keep(stored, base)
    const isSame = digest.canonical(merge.merged) === digest.canonical(stored.files)
    if (isSame || (await this.#share({ author, files: merge.merged }, stored, base)))
      return merge.overruled
    return [...merge.overruled, ...(await this.#sync(author))]
  }

  #isChanged({ texts, unknown }: ReturnType<PolicyFiles['texts']>, { files }: PolicyBase): boolean {
    const names = new Set([...Object.keys(texts), ...Object.keys(files)])
    for (const name of unknown) names.delete(name)
    const digests = this.#digestsOf(texts)
    return [...names].some((name) => digests[name] !== files[name])
  }

  #digestsOf(texts: PolicyTexts): PolicyBase['files'] {
    const { sha256 } = this.#deps.digest
    return Object.fromEntries(Object.entries(texts).map(([file, text]) => [file, sha256(text)]))
  }

  /** Takes what the others have; the log has it before anything is decided by it. */
  async #follow(
    { version, author, node }: Stored,
    { changes, overruled }: PolicyMerge,
  ): Promise<void> {
    const { auditLog, log, policy } = this.#deps
    const facts = { version, author, node, files: [...changes.keys()] }
    await auditLog.append(actDraft(systemOp(this.#deps), 'policy.followed', { arguments: facts }))
    await policy.place(changes)
    if (overruled.length > 0)
      log.warn(
        { files: overruled, version, author },
        'another node changed the same policy files; what they said here is below policies/.previous',
      )
  }

  /** Stores the next version, and returns whether it did: not where another node was first. */
  async #share(
    { author, files }: Pick<Shared, 'author' | 'files'>,
    stored: Stored | null,
    base: PolicyBase,
  ): Promise<boolean> {
    const { auditLog, digest, node } = this.#deps
    const version = Math.max(stored?.version ?? 0, base.version) + 1
    const json = digest.canonical({ version, author, node, files })
    const mac = this.#macOf(json)
    if (mac === null) return this.#refuse('it has no policy.key')
    const digests = this.#digestsOf(files)
    const isFirst = await auditLog.transaction(async (tx) => {
      const now = await tx.meta.get(metaKey)
      if (now !== (stored?.text ?? null)) return false
      await tx.meta.set(metaKey, `${mac}\n${json}`)
      const facts = { version, author, files: digests }
      tx.append(actDraft(systemOp(this.#deps), 'policy.shared', { arguments: facts }))
      return true
    })
    if (!isFirst) return false
    this.#fault = null
    this.#keep({ version, mac, files }, base)
    return true
  }

  #keep(
    { version, mac, files }: Pick<Stored, 'version' | 'mac' | 'files'>,
    base: PolicyBase,
  ): void {
    if (base.version === version && base.mac === mac) return
    const { policyShare, storage } = this.#deps
    policyShare.keepBase({ store: storage.id, version, mac, files: this.#digestsOf(files) })
  }

  /** One look or change at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work, work)
    this.#turn = done.catch(() => undefined)
    return done
  }
}

const savedAgain = 'save the policy that should hold on one node, and it is shared again'

/** @SECURITY A row that was put back, taken away or made without the key changes nothing here; shared-policy.test.ts. */
const faultOf = (stored: Stored | null, base: PolicyBase): string | null => {
  if (!stored)
    return base.version === 0
      ? null
      : `the database has no policy any more, and this node keeps version ${base.version}: ${savedAgain}`
  if (!stored.isGenuine)
    return `the policy in the database was not written by a node of this installation, and is not followed: ${savedAgain}`
  const isOld =
    stored.version < base.version || (stored.version === base.version && stored.mac !== base.mac)
  return isOld
    ? `the policy in the database is version ${stored.version}, and this node had version ${base.version}: ${savedAgain}`
    : null
}
