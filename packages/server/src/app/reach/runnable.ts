import { gitMissing } from '../../domain/git-missing.ts'
import { needsSandbox } from '../../domain/needs-sandbox.ts'
import { serviceKindOf } from '../../domain/service-groups.ts'
import type { GitFactory } from '../../ports/git.ts'
import type { Sandbox } from '../../ports/sandbox.ts'
import type { Call } from '../call/call.ts'
import type { ContextFactory } from '../call/capability-context.ts'

export type RunnableDeps = {
  readonly contexts: Pick<ContextFactory, 'previewOf'>
  readonly sandbox: Pick<Sandbox, 'ready'>
  readonly git: Pick<GitFactory, 'installed'>
  /** Raises what using this model, or the default one, would raise for want of it or of an engine. */
  readonly modelReady: (id: string | undefined) => Promise<void>
  /** Raises what a call of an upstream server's tool would raise before it reaches the server. */
  readonly upstreamReady: (call: Pick<Call, 'agent' | 'capability'>) => Promise<void>
}

/** An argument that names what the call works with. */
const named = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/**
 * Raises what a run of the call would raise for want of something that it needs here, whatever it is about: a
 * mailbox, a sandbox, a model, a tool that is in service.
 */
export async function assertRunnable(deps: RunnableDeps, call: Call): Promise<void> {
  const { capability, args, op } = call
  if (capability.performer === 'client') return
  if (capability.origin === 'upstream') return deps.upstreamReady(call)
  const kind = serviceKindOf(capability.group)
  if (kind !== null) {
    const { services } = deps.contexts.previewOf(call, op.signal)
    await services.open(kind, named(args['service']))
  }
  if (capability.group === 'inference' && capability.name !== 'inference.models')
    await deps.modelReady(named(args['model']))
  if (capability.group === 'git' && !deps.git.installed()) throw gitMissing('git')
  if (needsSandbox(capability)) await deps.sandbox.ready()
}
