import type { PathForm, PolicyQuestion } from '../domain/policy/types.ts'
import type { StoredAgent, StoredSession } from '../ports/agents.ts'
import type { Capability } from '../ports/capability.ts'
import type { Files } from '../ports/files.ts'
import type { ContextFactory } from './capability-context.ts'

type Arguments = Readonly<Record<string, unknown>>

const pathIn = (value: unknown, files: Files, form: PathForm): unknown =>
  typeof value === 'string'
    ? files.locate(value)[form]
    : Array.isArray(value)
      ? value.map((item) => pathIn(item, files, form))
      : value

/** The arguments with each path told by where it leads. The call itself keeps what was written. */
const located = (
  args: Arguments,
  names: readonly string[],
  files: Files,
  form: PathForm,
): Arguments => {
  const told: Record<string, unknown> = {}
  for (const name of Object.keys(args))
    told[name] = names.includes(name) ? pathIn(args[name], files, form) : args[name]
  return Object.freeze(told)
}

/** What does not depend on how paths are told. Copied field by field: every call makes some of these. */
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
  readonly #names: readonly string[]
  readonly #files: Files

  constructor(asked: PolicyQuestion, names: readonly string[], files: Files) {
    super(asked, () => located(asked.args, names, files, 'absolute'))
    this.#names = names
    this.#files = files
  }

  canLeadTo(name: string, beginning: string): boolean {
    const path = this.written[name]
    if (typeof path !== 'string' || !this.#names.includes(name)) return true
    return this.#files.canLeadTo(path, beginning)
  }
}

/** A question whose paths can be told by where they lead. */
class PlacedQuestion extends Asked implements PolicyQuestion {
  readonly args: Arguments
  readonly #names: readonly string[]
  readonly #files: () => Files
  #absolute: PolicyQuestion | null = null
  #relative: PolicyQuestion | null = null

  constructor(asked: PolicyQuestion, names: readonly string[], files: () => Files) {
    super(asked)
    this.args = asked.args
    this.#names = names
    this.#files = files
  }

  as(form: PathForm): PolicyQuestion {
    if (form === 'absolute')
      return (this.#absolute ??= new AbsoluteQuestion(this, this.#names, this.#files()))
    return (this.#relative ??= new SeenQuestion(this, () =>
      located(this.args, this.#names, this.#files(), form),
    ))
  }
}

const noSession: PolicyQuestion['session'] = { id: '', transport: '', client: '' }

/** The folders to look at, where the question is about a call and not about a listing. */
export type Places = { readonly capability: Capability; readonly contexts: ContextFactory }

/** What policy is asked about a call. Paths are looked up only when a condition reads the arguments. */
export const questionOf = (
  agent: StoredAgent,
  session: StoredSession | null,
  capability: string,
  args: Arguments,
  nowMs: number,
  places?: Places,
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
  const names = places?.capability.paths ?? []
  if (!places || names.length === 0) return question
  return new PlacedQuestion(question, names, () => places.contexts.filesOf({ agent }))
}
