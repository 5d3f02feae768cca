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
): Arguments =>
  Object.freeze({
    ...args,
    ...Object.fromEntries(
      names.filter((name) => name in args).map((name) => [name, pathIn(args[name], files, form)]),
    ),
  })

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
    session: {
      id: session?.id ?? '',
      transport: session?.transport ?? '',
      client: session?.client?.name ?? '',
    },
    args,
    nowMs,
  }
  const names = places?.capability.paths ?? []
  if (!places || names.length === 0) return question
  const forms: Partial<Record<PathForm, PolicyQuestion>> = {}
  return {
    ...question,
    as: (form) => {
      forms[form] ??= {
        ...question,
        args: located(args, names, places.contexts.filesOf({ agent }), form),
      }
      return forms[form]
    },
  }
}
