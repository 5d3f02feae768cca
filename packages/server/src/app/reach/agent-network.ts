import { GatehouseError } from '@gatehouse/contract'
import type { AgentSecrets } from '../../ports/capability.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AgentNetwork } from '../../ports/network.ts'
import type { Outbound } from '../../ports/outbound.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Call } from '../call/call.ts'
import type { ContextFactory } from '../call/capability-context.ts'
import { buildQuestion } from '../call/policy-question.ts'

type Deps = {
  readonly outbound: Outbound
  readonly policy: PolicySource
  readonly clock: Clock
  readonly contexts: ContextFactory
  readonly secretsOf: (call: Call) => Pick<AgentSecrets, 'scrub' | 'scrubStream'>
}

const refuse = (detail: string): never => {
  throw new GatehouseError('RedirectRefused', { detail })
}

/**
 * Whether policy would have let the call go where a redirect leads. Who approved a call approved what policy
 * asks about; a call that nobody approved goes on only where nobody needs to be asked.
 */
const decideHop = (deps: Deps, call: Call, url: URL): void => {
  const { agent, session, capability, args } = call
  const places = { capability, contexts: deps.contexts }
  const decide = (asked: Call['args']) =>
    deps.policy
      .current()
      .decide(buildQuestion(agent, session, capability.name, asked, deps.clock.wall(), places))
  const { kind, reason } = decide({ ...args, url: url.href })
  if (kind === 'allow') return
  if (kind === 'ask' && decide(args).kind !== 'allow') return
  refuse(
    kind === 'ask'
      ? `a person would have to approve ${url.origin}`
      : `policy does not let ${agent.name} reach ${url.origin}${reason ? `: ${reason}` : ''}`,
  )
}

/** The way out for one call. Records nothing: the gate records the call. */
export const networkOf = (deps: Deps, call: Call, signal: AbortSignal): AgentNetwork => {
  const { outbound } = deps
  const secrets = deps.secretsOf(call)
  const written = call.args['url']
  const allows = (url: URL): void => {
    if (url.href === written) return
    decideHop(deps, call, url)
    // @SECURITY However the host wrote the secret into the address (outbound/network.test.ts).
    if (secrets.scrub(url.href) !== url.href && url.origin !== new URL(String(written)).origin)
      refuse('it would hand a secret to another host')
  }
  return {
    async request(request) {
      const response = await outbound.request({ ...request, allows }, signal)
      return {
        status: response.status,
        headers: secrets.scrub(response.headers),
        url: secrets.scrub(response.url),
        body: secrets.scrubStream(response.body),
        [Symbol.asyncDispose]: () => response[Symbol.asyncDispose](),
      }
    },
    lookup: (hostname) => outbound.lookup(hostname, signal),
    connect: (target) => outbound.connect(target, signal),
  }
}
