import type { PathForm, PolicyQuestion } from '../../domain/policy/types.ts'
import type { StoredAgent, StoredSession } from '../../ports/agents.ts'
import type { Capability } from '../../ports/capability.ts'
import type { Files, Told } from '../../ports/files.ts'
import type { ContextFactory } from './capability-context.ts'

type Arguments = Readonly<Record<string, unknown>>

/** Arguments that are taken to lead to one place, wherever what stands in them leads. */
export type Bound = {
  readonly names: readonly string[]
  readonly place: Told
  /** Text in the argument; of a list only the item that is equal to it is bound. */
  readonly shown: string
}

/** How the path arguments of one question are told. */
class Teller {
  readonly #paths: readonly string[]
  readonly #entries: readonly string[]
  readonly #files: Files
  readonly #bound: Bound | null

  constructor({ capability }: Places, files: Files, bound: Bound | null) {
    this.#paths = capability.paths
    this.#entries = capability.entries
    this.#files = files
    this.#bound = bound
  }

  /** The arguments with each path told by where it leads. The call itself keeps what was written. */
  located(args: Arguments, form: PathForm): Arguments {
    const told: Record<string, unknown> = {}
    for (const name of Object.keys(args))
      told[name] = this.#paths.includes(name) ? this.#told(name, args[name], form) : args[name]
    return Object.freeze(told)
  }

  canLeadTo(args: Arguments, name: string, beginning: string): boolean {
    const path = args[name]
    if (typeof path !== 'string' || !this.#paths.includes(name)) return true
    return this.#bound?.names.includes(name)
      ? this.#bound.place.absolute.startsWith(beginning)
      : this.#files.canLeadTo(path, beginning)
  }

  #told(name: string, value: unknown, form: PathForm): unknown {
    const bound = this.#bound?.names.includes(name) ? this.#bound : null
    if (typeof value === 'string')
      return bound ? bound.place[form] : this.#lookUp(name, value, form)
    if (!Array.isArray(value)) return value
    // A place that none of the items reached is asked about alone.
    if (bound && !value.includes(bound.shown)) return [bound.place[form]]
    return value.map((item: unknown) =>
      typeof item !== 'string'
        ? item
        : bound && item === bound.shown
          ? bound.place[form]
          : this.#lookUp(name, item, form),
    )
  }

  #lookUp(name: string, path: string, form: PathForm): string {
    return this.#files.locate(path, { entry: this.#entries.includes(name) })[form]
  }
}

/** Where each path argument of a call leads now, absolute. */
export const placesOf = (
  files: Files,
  { paths, entries }: Pick<Capability, 'paths' | 'entries'>,
  args: Arguments,
): Readonly<Record<string, readonly string[]>> => {
  const places: Record<string, readonly string[]> = {}
  for (const name of paths) {
    const value = args[name]
    const given = Array.isArray(value) ? value : [value]
    const entry = entries.includes(name)
    const found = given.filter((path) => typeof path === 'string')
    if (found.length > 0) places[name] = found.map((path) => files.locate(path, { entry }).absolute)
  }
  return places
}

/** Fields that do not depend on how paths are told. Copied field by field: every call makes some of these. */
class Asked {
  readonly capability: string
  readonly agent: PolicyQuestion['agent']
  readonly session: PolicyQuestion['session']
  readonly nowMs: number

  constructor(asked: PolicyQuestion) {
    this.capability = asked.capability
    this.agent = asked.agent
    this.session = asked.session
    this.nowMs = asked.nowMs
  }
}

/** A question with its paths in one form, which are looked up when somebody reads them. */
class SeenQuestion extends Asked implements PolicyQuestion {
  readonly written: Arguments
  readonly #look: () => Arguments
  #args: Arguments | null = null

  constructor(asked: PolicyQuestion, look: () => Arguments) {
    super(asked)
    this.written = asked.args
    this.#look = look
  }

  get args(): Arguments {
    return (this.#args ??= this.#look())
  }
}

class AbsoluteQuestion extends SeenQuestion {
  readonly #teller: Teller

  constructor(asked: PolicyQuestion, teller: Teller) {
    super(asked, () => teller.located(asked.args, 'absolute'))
    this.#teller = teller
  }

  canLeadTo(name: string, beginning: string): boolean {
    return this.#teller.canLeadTo(this.written, name, beginning)
  }
}

/** A question whose paths can be told by where they lead. */
class PlacedQuestion extends Asked implements PolicyQuestion {
  readonly args: Arguments
  readonly #teller: () => Teller
  #absolute: PolicyQuestion | null = null
  #relative: PolicyQuestion | null = null

  constructor(asked: PolicyQuestion, teller: () => Teller) {
    super(asked)
    this.args = asked.args
    this.#teller = teller
  }

  as(form: PathForm): PolicyQuestion {
    if (form === 'absolute') return (this.#absolute ??= new AbsoluteQuestion(this, this.#teller()))
    return (this.#relative ??= new SeenQuestion(this, () =>
      this.#teller().located(this.args, form),
    ))
  }
}

const noSession: PolicyQuestion['session'] = { id: '', transport: '', client: '' }

/** The folders to look at, where the question is about a call and not about a listing. */
export type Places = {
  readonly capability: Pick<Capability, 'paths' | 'entries'>
  readonly contexts: Pick<ContextFactory, 'filesOf'>
}

/** Question to policy about a call. Paths are looked up only when a condition reads the arguments. */
export const buildQuestion = (
  agent: StoredAgent,
  session: StoredSession | null,
  capability: string,
  args: Arguments,
  nowMs: number,
  places?: Places,
  bound: Bound | null = null,
): PolicyQuestion => {
  const question: PolicyQuestion = {
    capability,
    agent: { name: agent.name, purpose: agent.purpose, status: agent.status },
    session: session
      ? { id: session.id, transport: session.transport, client: session.client?.name ?? '' }
      : noSession,
    args,
    nowMs,
  }
  if (!places || places.capability.paths.length === 0) return question
  return new PlacedQuestion(
    question,
    () => new Teller(places, places.contexts.filesOf({ agent }), bound),
  )
}
