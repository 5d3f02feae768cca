import type { Decision, PolicyQuestion } from '../../domain/policy/types.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Files, Reach, Told } from '../../ports/files.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Call } from '../call/call.ts'
import { type Bound, buildQuestion, type Places, placesOf } from '../call/policy-question.ts'

type Deps = {
  readonly policy: PolicySource
  readonly clock: Pick<Clock, 'wall'>
  readonly filesOf: (call: Pick<Call, 'agent'>) => Files
}

type Arguments = Call['args']

/** Capabilities that show or change the files of a repository are held to these rules as well. */
const contentCapabilities = ['filesystem.read', 'filesystem.write'] as const
const contentPaths: readonly string[] = ['path']

/** A call without an argument for it is asked as if the place stood in `path`. */
const pathsOf = ({ capability }: Call): readonly string[] =>
  capability.paths.length > 0 ? capability.paths : contentPaths

const sameHosts = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((host, i) => host === b[i])

/**
 * Policy, asked again of each place that a call reaches, as if the call had named it. A place that nobody
 * has to be asked about is let through. One that a person decides about is let through for a call that was
 * approved, where it is a place that the person decided on, or lies below one.
 * @SECURITY What was decided before the walk says nothing of where the walk ended; swapped-places.test.ts.
 */
class CallReach implements Reach {
  readonly #deps: Deps
  readonly #call: Call
  #decided: readonly string[] | null = null

  constructor(deps: Deps, call: Call) {
    this.#deps = deps
    this.#call = call
  }

  permits(place: Told, argument?: string, shown?: string): boolean {
    const { capability, args } = this.#call
    const bound = this.#boundTo(place, argument, shown)
    // A tree of files is asked about as its files are, by the argument that names one.
    const absent = Object.fromEntries(
      bound.names.filter((name) => !(name in args)).map((name) => [name, place.absolute]),
    )
    return this.#lets(this.#ask(capability.name, { ...args, ...absent }, bound), place)
  }

  reads(place: Told): boolean {
    return this.permits(place) && this.#contentLets('filesystem.read', place)
  }

  writes(place: Told): boolean {
    return this.permits(place) && this.#contentLets('filesystem.write', place)
  }

  #contentLets(name: (typeof contentCapabilities)[number], place: Told): boolean {
    const policy = this.#deps.policy.current()
    if (!policy.dependsOn(this.#call.agent.name, name, contentPaths)) return true
    const bound = { names: contentPaths, place, shown: place.absolute }
    return this.#lets(this.#ask(name, { path: place.absolute }, bound), place)
  }

  #boundTo(place: Told, argument: string | undefined, shown = place.absolute): Bound {
    const paths = pathsOf(this.#call)
    if (argument !== undefined && paths.includes(argument))
      return { names: [argument], place, shown }
    const given = paths.filter((name) => this.#call.args[name] !== undefined)
    const names = paths.includes('path') && !given.includes('path') ? [...given, 'path'] : given
    return { names, place, shown }
  }

  #ask(name: string, args: Arguments, bound: Bound): Decision {
    const { agent, session } = this.#call
    const asked: PolicyQuestion = buildQuestion(
      agent,
      session,
      name,
      args,
      this.#deps.clock.wall(),
      this.#places(bound.names),
      bound,
    )
    return this.#deps.policy.current().decide(asked)
  }

  /** Of the call's own arguments those are told as ever that are not bound. */
  #places(bound: readonly string[]): Places {
    const { capability } = this.#call
    const paths = [...new Set([...pathsOf(this.#call), ...bound])]
    return {
      capability: { paths, entries: capability.entries },
      contexts: { filesOf: this.#deps.filesOf },
    }
  }

  #lets(decision: Decision, place: Told): boolean {
    if (decision.kind === 'deny') return false
    if (!sameHosts(decision.network, this.#call.network)) return false
    if (decision.kind === 'allow') return true
    return this.#call.agreed === true && this.#wasDecidedOn(place.absolute)
  }

  #wasDecidedOn(place: string): boolean {
    const { capability, args, places } = this.#call
    if (capability.paths.length === 0) return true
    this.#decided ??= Object.values(
      places ?? placesOf(this.#deps.filesOf(this.#call), capability, args),
    ).flat()
    return this.#decided.some((one) => place === one || place.startsWith(`${one}/`))
  }
}

/** Null where no rule for the call depends on a path: then all that it can reach is decided on already. */
export const buildReach = (deps: Deps, call: Call): Reach | null => {
  const policy = deps.policy.current()
  const { agent, capability } = call
  const depends = (name: string, paths: readonly string[]) =>
    policy.dependsOn(agent.name, name, paths)
  if (depends(capability.name, pathsOf(call))) return new CallReach(deps, call)
  const showsContent = capability.group === 'git'
  return showsContent && contentCapabilities.some((name) => depends(name, contentPaths))
    ? new CallReach(deps, call)
    : null
}

/** For what outlives its call: policy may begin to depend on paths later. */
export const buildLastingReach = (deps: Deps, call: Call): Reach => new CallReach(deps, call)
