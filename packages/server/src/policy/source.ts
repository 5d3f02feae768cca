import { createHash } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ActiveRule,
  AgentName,
  GatehouseError,
  type PolicyProblem,
  type ReadyPolicy,
} from '@gatehouse/contract'
import type { CompiledPolicy, LayerRule } from '../domain/policy/types.ts'
import type { Capability, CapabilityRegistry } from '../ports/capability.ts'
import type { Log } from '../ports/log.ts'
import type {
  PolicyCheck,
  PolicyDraft,
  PolicyFiles,
  PolicyFileText,
  SavedPolicyFile,
  SavePolicyFile,
} from '../ports/policy.ts'
import { type FileId, type ParsedFile, parsePolicyFile } from './parse-file.ts'
import {
  type Activation,
  layerOf,
  type Offer,
  planActivation,
  type Standing,
} from './plan-activation.ts'
import {
  agentId,
  type FileOnDisk,
  forget,
  keep,
  keepPrevious,
  keptFiles,
  organisationId,
  readKept,
  readSnapshot,
  type Snapshot,
  sameFiles,
  writeWhole,
} from './policy-files.ts'
import { readReadyPolicies } from './ready-policies.ts'
import type { ArgumentsOf } from './run-tests.ts'
import { createSystemPolicy, type PolicyDefault, systemId } from './system-policy.ts'
import { type KnownNames, knownNamesOf } from './unknown-names.ts'
import { watchPolicy } from './watch.ts'

export type PolicySourceOptions = {
  /** Holds `organisation.yaml` and `agents/<name>.yaml`; made if it is not there. */
  readonly directory: string
  /** Capabilities that rules may speak of, and what the layer that ships is made from. */
  readonly registry: PolicyRegistry
  readonly log: Log
}

type PolicyFacts = Pick<Capability, 'argument_names' | 'argument_defaults' | 'paths' | 'origin'>

/** The capabilities there are, as far as policy speaks of them. */
export type PolicyRegistry = Pick<CapabilityRegistry, 'onChange'> & {
  list(): readonly (PolicyDefault & PolicyFacts)[]
}

const quietMs = 50
const goneMs = 200
const looksMax = 10

const offerOf = (file: FileOnDisk): Offer => ({
  id: file.id,
  content: file.kind === 'text' ? { text: file.text } : { unreadable: file.message },
})

const textVersion = (text: string): string =>
  `sha256:${createHash('sha256').update(text).digest('hex')}`

const fileVersion = (file: FileOnDisk | undefined): string => {
  if (!file) return 'none'
  return file.kind === 'text' ? textVersion(file.text) : 'unreadable'
}

const hasError = (problems: readonly PolicyProblem[]): boolean =>
  problems.some(({ severity }) => severity === 'error')

/** As they stand in the file: one that matches by effect is several. */
const activeRules = (rules: readonly LayerRule[]): readonly ActiveRule[] =>
  [...new Map(rules.map((rule) => [rule.ref, rule])).values()].map(activeRule)

const activeRule = (rule: LayerRule): ActiveRule => ({
  line: rule.ref.line,
  match: rule.ref.match,
  when: rule.written_when === undefined ? (rule.when?.source ?? null) : rule.written_when,
  tier: rule.tier,
  notify: rule.notify,
  reason: rule.reason,
  floor: rule.floor,
  critical: rule.critical ?? false,
  network: [...(rule.network ?? [])],
})

const strayWarning = (file: string): PolicyProblem => ({
  file,
  line: 1,
  column: 1,
  message: 'this file is not read: policy is organisation.yaml and agents/<name of the agent>.yaml',
  severity: 'warning',
})

/** Registry as it was at one moment. */
type Basis = {
  readonly names: KnownNames
  readonly system: ParsedFile
  /** Tests in files read the arguments of a capability as calls do. */
  readonly argumentsOf: ArgumentsOf
}

const buildBasis = (registry: PolicyRegistry): Basis => {
  const capabilities = registry.list()
  const known = new Map(capabilities.map((capability) => [capability.name, capability]))
  const names = knownNamesOf(
    [...known.keys()],
    (name) => known.get(name)?.argument_names ?? [],
    (name) => known.get(name)?.origin === 'own',
  )
  const system = createSystemPolicy(capabilities, names)
  return { names, system, argumentsOf: (name) => known.get(name) }
}

class FilePolicySource implements PolicyFiles, AsyncDisposable {
  readonly #options: PolicySourceOptions
  readonly #listeners = new Set<(policy: CompiledPolicy) => void>()
  #basis: Basis
  #snapshot: Snapshot | null = null
  #active: Activation
  #problems: readonly PolicyProblem[] = []
  /** Texts of the copies on disk, by file. */
  readonly #kept = new Map<string, string>()
  #turn: Promise<void> = Promise.resolve()
  #watches: readonly (Disposable | AsyncDisposable)[] = []

  constructor(options: PolicySourceOptions) {
    this.#options = options
    this.#basis = buildBasis(options.registry)
    this.#active = this.#plan([], new Map(), true)
  }

  async start(): Promise<void> {
    // Before the first look: a change while it runs would otherwise be missed.
    this.#watches = [this.#options.registry.onChange(() => this.#followRegistry())]
    await mkdir(join(this.#options.directory, 'agents'), { recursive: true, mode: 0o700 })
    await this.#inTurn(() => this.#look({ starting: true, patient: false }))
    const files = await watchPolicy(
      this.#options.directory,
      async () => {
        const now = await readSnapshot(this.#options.directory, this.#snapshot)
        return this.#snapshot === null || !sameFiles(this.#snapshot, now)
      },
      () => this.#inTurn(() => this.#look({ starting: false, patient: true })),
      this.#options.log,
    )
    this.#watches = [...this.#watches, files]
  }

  current(): CompiledPolicy {
    return this.#active.policy
  }

  problems(): readonly PolicyProblem[] {
    return this.#problems
  }

  onChange(listener: (policy: CompiledPolicy) => void): Disposable {
    const own = (policy: CompiledPolicy) => listener(policy)
    this.#listeners.add(own)
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) }
  }

  reload(): Promise<void> {
    return this.#inTurn(() => this.#look({ starting: false, patient: false }))
  }

  files(): readonly PolicyFileText[] {
    const { layer, file, agent } = systemId
    const below = [...(this.#snapshot?.files.values() ?? [])].map((one) => ({
      ...one.id,
      text: one.kind === 'text' ? one.text : '',
      version: fileVersion(one),
      active_rules: this.#rulesOf(one.id.file),
    }))
    const { text, layer: shipped } = this.#basis.system
    const active_rules = activeRules(shipped.rules)
    return [{ layer, file, agent, text, version: textVersion(text), active_rules }, ...below]
  }

  texts(): ReturnType<PolicyFiles['texts']> {
    const texts: Record<string, string> = {}
    const unknown: string[] = []
    for (const one of this.#snapshot?.files.values() ?? []) {
      const standing = this.#active.standing.get(one.id.file)
      const isActive =
        one.kind === 'text' && standing?.kind === 'active' && standing.parsed.text === one.text
      if (isActive) texts[one.id.file] = one.text
      else unknown.push(one.id.file)
    }
    return { texts, unknown }
  }

  place(changes: ReadonlyMap<string, string | null>): Promise<void> {
    return this.#inTurn(async () => {
      const { directory } = this.#options
      for (const [file, text] of changes) {
        await keepPrevious(directory, file, text ?? '')
        if (text === null) await rm(join(directory, file), { force: true })
        else await writeWhole(join(directory, file), text)
      }
      await this.#look({ starting: false, patient: false })
    })
  }

  ready(): Promise<readonly ReadyPolicy[]> {
    return readReadyPolicies()
  }

  countActive(): Omit<PolicyCheck, 'problems'> {
    const counts = [...this.#active.counts.values()]
    return {
      rules: counts.reduce((sum, { rules }) => sum + rules, 0),
      testsPassed: counts.reduce((sum, { testsPassed }) => sum + testsPassed, 0),
    }
  }

  validate(input: {
    readonly text: string
    readonly file: string
    readonly agent?: string
  }): PolicyCheck {
    const { id, activation, problems } = this.#draft(input)
    // Where the text is refused, the file that stands is another.
    const counts = hasError(problems) ? undefined : activation.counts.get(id.file)
    return {
      problems: problems.map((problem) => ({ ...problem, file: input.file })),
      ...(counts ?? { rules: 0, testsPassed: 0 }),
    }
  }

  compile(draft: PolicyDraft): {
    readonly policy: CompiledPolicy | null
    readonly problems: readonly PolicyProblem[]
  } {
    const { activation, problems } = this.#draft(draft)
    return { policy: hasError(problems) ? null : activation.policy, problems }
  }

  async save({ versions = null, record, ...draft }: SavePolicyFile): Promise<SavedPolicyFile> {
    const id = this.#idOf(draft.agent)
    let previous: string | null = null
    let stale = false
    let { problems } = this.#draft(draft)
    if (!hasError(problems)) {
      await this.#inTurn(async () => {
        const { directory } = this.#options
        // An editor of the file itself is somebody else, too.
        const now = await readSnapshot(directory, this.#snapshot)
        stale = versions !== null && !versions.includes(fileVersion(now.files.get(id.file)))
        if (!stale) {
          await record?.()
          previous = await keepPrevious(directory, id.file, draft.text)
          await writeWhole(join(directory, id.file), draft.text)
        }
        await this.#look({ starting: false, patient: false })
      })
      problems = stale ? [] : this.#problems.filter(({ file }) => file === id.file)
    }
    const file_version = fileVersion(this.#snapshot?.files.get(id.file))
    return { version: this.current().version, problems, previous, file_version, stale }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watch of this.#watches)
      await (Symbol.asyncDispose in watch ? watch[Symbol.asyncDispose]() : watch[Symbol.dispose]())
    this.#listeners.clear()
    await this.#turn
  }

  #rulesOf(file: string): readonly ActiveRule[] {
    const standing = this.#active.standing.get(file)
    return standing ? activeRules(layerOf(standing).rules) : []
  }

  #idOf(agent: string | undefined): FileId {
    if (agent === undefined) return organisationId
    // @SECURITY the name becomes part of a path (source.test.ts, "no name leads out").
    if (!AgentName.safeParse(agent).success) throw new GatehouseError('AgentNotFound', { agent })
    return agentId(agent)
  }

  /** One look at the files at a time: a slow one never overtakes a later one. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => undefined)
    return done
  }

  /** The files as they would be with one text in its place; `problems` are those of that text. */
  #draft({ text, agent }: PolicyDraft) {
    const id = this.#idOf(agent)
    const others = [...(this.#snapshot?.files.values() ?? [])]
      .filter((one) => one.id.file !== id.file)
      .map(offerOf)
    const offers = [...others, { id, content: { text } }]
    const activation = this.#plan(offers, this.#active.standing, false)
    return { id, activation, problems: activation.problems.filter(({ file }) => file === id.file) }
  }

  #plan(offers: readonly Offer[], before: Activation['standing'], starting: boolean): Activation {
    return planActivation({
      system: this.#basis.system,
      offers,
      before,
      starting,
      names: this.#basis.names,
      argumentsOf: this.#basis.argumentsOf,
    })
  }

  /** Reads until two looks in a row see the same, so that files changing together come together. */
  async #readQuietly(patient: boolean): Promise<Snapshot> {
    const { directory } = this.#options
    let last = await readSnapshot(directory, this.#snapshot)
    for (let looks = 0; looks < looksMax; looks++) {
      const gone = [...(this.#snapshot?.files.keys() ?? [])].some((file) => !last.files.has(file))
      // Some editors remove a file before they put the new one there.
      if (patient) await sleep(gone && looks === 0 ? goneMs : quietMs)
      const next = await readSnapshot(directory, last)
      if (sameFiles(last, next)) return next
      last = next
    }
    return last
  }

  /** The versions that were active when the service last ran, for the files that are there now. */
  async #keptStandings(snapshot: Snapshot): Promise<Map<string, Standing>> {
    const kept = new Map<string, Standing>()
    for (const { id } of snapshot.files.values()) {
      const text = await readKept(this.#options.directory, id.file)
      if (text === null) continue
      this.#kept.set(id.file, text)
      const result = parsePolicyFile(id, text, this.#basis.names, 'warned')
      if (result.kind === 'ok') kept.set(id.file, { kind: 'active', parsed: result.parsed })
    }
    return kept
  }

  /**
   * The policy for other capabilities, active before anybody is answered again: at once, and without a
   * look at the disk. A rule about a capability that is gone stays active and is warned of.
   */
  #followRegistry(): void {
    this.#basis = buildBasis(this.#options.registry)
    const snapshot = this.#snapshot
    if (!snapshot) return
    const offers = [...snapshot.files.values()].map(offerOf)
    const activation = this.#plan(offers, this.#active.standing, false)
    if (this.#takeOver(activation, snapshot)) this.#announce(activation.policy)
  }

  /** Whether the policy is another one now. */
  #takeOver(activation: Activation, snapshot: Snapshot): boolean {
    const old = this.#active.policy.version
    this.#snapshot = snapshot
    this.#active = activation
    this.#report([...activation.problems, ...snapshot.strays.map(strayWarning)])
    return old !== activation.policy.version
  }

  async #look(how: { readonly starting: boolean; readonly patient: boolean }): Promise<void> {
    const snapshot = await this.#readQuietly(how.patient)
    const before = how.starting ? await this.#keptStandings(snapshot) : this.#active.standing
    const activation = this.#plan([...snapshot.files.values()].map(offerOf), before, how.starting)
    const changed = this.#takeOver(activation, snapshot)
    await this.#keepGood()
    if (how.starting || changed) this.#announce(activation.policy)
  }

  #report(problems: readonly PolicyProblem[]): void {
    const known = new Set(this.#problems.map((problem) => JSON.stringify(problem)))
    this.#problems = problems
    for (const problem of problems) {
      if (known.has(JSON.stringify(problem))) continue
      if (problem.severity === 'error') this.#options.log.error(problem, 'policy file refused')
      else this.#options.log.warn(problem, 'policy file has a weakness')
    }
  }

  #announce(policy: CompiledPolicy): void {
    const { log } = this.#options
    log.info({ version: policy.version }, 'policy is active')
    for (const listener of this.#listeners) {
      try {
        listener(policy)
      } catch (error) {
        log.error({ error }, 'a listener of policy changes failed')
      }
    }
  }

  async #keepGood(): Promise<void> {
    const { directory, log } = this.#options
    const { standing } = this.#active
    try {
      for (const [file, one] of standing) {
        if (one.kind !== 'active' || this.#kept.get(file) === one.parsed.text) continue
        await keep(directory, file, one.parsed.text)
        this.#kept.set(file, one.parsed.text)
      }
      for (const file of await keptFiles(directory)) {
        if (this.#snapshot?.files.has(file)) continue
        this.#kept.delete(file)
        await forget(directory, file)
      }
    } catch (error) {
      // Policy holds all the same; only a start with a bad file would find nothing to fall back on.
      log.warn({ error }, 'the last good policy could not be kept')
    }
  }
}

/** Reads the policy files, keeps the last good policy active and follows their changes. */
export const openPolicySource = async (
  options: PolicySourceOptions,
): Promise<PolicyFiles & AsyncDisposable> => {
  const source = new FilePolicySource(options)
  await source.start()
  return source
}
